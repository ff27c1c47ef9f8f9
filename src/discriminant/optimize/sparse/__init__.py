"""Ridge logistic regression on the folds of a cross-validation at once."""

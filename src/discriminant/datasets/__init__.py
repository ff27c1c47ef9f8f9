"""Three small real data sets that come with the package, for examples, tests and first steps.

=================  ====  ========  =======  ==================================================================
name               rows  features  classes  source and licence
=================  ====  ========  =======  ==================================================================
``breast_cancer``   569        30        2  Wisconsin Diagnostic Breast Cancer, 1993; CC BY 4.0
``iris``            150         4        3  Anderson and Fisher, 1936; public-domain facts, CC BY 4.0 as a set
``penguins``        342         4        3  Palmer Archipelago penguins, 2020; CC0
=================  ====  ========  =======  ==================================================================

>>> from discriminant import datasets
>>> data = datasets.load("penguins")
>>> data.X.shape, data.feature_names[0], data.classes
((342, 4), 'bill_length_mm', ('Adelie', 'Chinstrap', 'Gentoo'))
"""

from discriminant.datasets.bundled import Dataset, available, load, target

__all__ = ["Dataset", "available", "load", "target"]

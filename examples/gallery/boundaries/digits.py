"""
Ten digits by softmax
=====================

1,797 pictures of handwritten digits, 64 pixels each. The weights of each class are a picture themselves: what speaks
for the digit is blue, what speaks against it red.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from discriminant import LogisticRegression

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, random_state=0)
model = LogisticRegression(C=0.5).fit(X_train, y_train)
print(f"accuracy on new digits: {model.score(X_test, y_test):.3f}")
print(model.certificate_.status)

fig, axes = plt.subplots(2, 5, figsize=(8, 3.6))
for ax, weights, label in zip(axes.flat, model.coef_, model.classes_, strict=True):
    ax.imshow(weights.reshape(8, 8), cmap="RdBu", vmin=-1.2, vmax=1.2)
    ax.set_title(str(label), fontsize=10)
    ax.axis("off")
plt.show()

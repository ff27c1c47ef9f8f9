"""
A model inside of the database
==============================

A fitted model as one SQL query, as a C file, as an ONNX graph: the same numbers where Python is not. The query below
runs in the SQLite that comes with Python.
"""

import sqlite3

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from discriminant import LogisticRegression, datasets, to_c, to_onnx, to_sql

penguins = datasets.load("penguins", as_frame=True)
model = LogisticRegression().fit(penguins.X, penguins.y)
query = to_sql(model, table="birds", dialect="sqlite")
print(query[:600], "…")

base = sqlite3.connect(":memory:")
penguins.X.to_sql("birds", base, index=False)
answers = pd.read_sql(query, base)
found = answers.filter(like="probability").to_numpy()
expected = model.predict_proba(penguins.X)
print("labels agree:", bool((answers["prediction"] == model.predict(penguins.X)).all()))
print("C:", len(to_c(model)), "characters; ONNX:", len(to_onnx(model)), "bytes")

fig, ax = plt.subplots(figsize=(5, 4.4))
ax.plot(expected.ravel(), found.ravel(), ".")
ax.set(xlabel="probabilities in Python", ylabel="probabilities in SQLite")
ax.set_title(f"largest difference {np.abs(found - expected).max():.0e}", fontsize=10)
plt.show()

"""
More rows than memory
=====================

Rows in files go where X goes: ``scan`` reads them in blocks, as often as the method needs, within the memory that is
allowed. The answer is that of the rows in memory.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from discriminant import LinearDiscriminantAnalysis, LogisticRegression, scan

rng = np.random.default_rng(0)
columns = [f"x{j}" for j in range(6)]
folder = Path(tempfile.mkdtemp())
for part in range(4):
    X = rng.normal(size=(20_000, 6))
    y = np.where(X @ [1.0, -1.0, 0.5, 0.0, 0.0, 0.2] + rng.logistic(size=20_000) > 0, "yes", "no")
    pd.DataFrame(X, columns=columns).assign(label=y).to_parquet(folder / f"part{part}.parquet")

rows = scan(folder / "*.parquet", target="label", memory="1GB", hold=False)
streamed = LogisticRegression().fit(rows)
print(streamed.certificate_.status)

# %%
# The same from memory:
table = pd.read_parquet(folder)
held = LogisticRegression().fit(table[columns], table["label"])
lda = LinearDiscriminantAnalysis().fit(rows)

fig, ax = plt.subplots(figsize=(6.5, 3.4))
for shift, model, name in ((-0.2, held, "in memory"), (0, streamed, "from files"), (0.2, lda, "LDA, from files")):
    ax.bar(np.arange(6) + shift, model.coef_[0], 0.18, label=name)
ax.set_xticks(range(6), columns)
ax.set_title(f"largest difference {np.abs(held.coef_ - streamed.coef_).max():.0e}", fontsize=10)
ax.legend()
plt.show()

"""Sentences for the problems that a peer does not take part in."""

from __future__ import annotations

from collections.abc import Mapping

GAUSSIAN = ("lda-fit", "qda-fit", "least-squares-fit", "lda-predict", "lda-cold-start")
LOGISTIC = (
    *("logistic-l2", "softmax-l2", "logistic-sparse", "logistic-l1-path", "logistic-l1-path-sparse"),
    *("logistic-cv", "logistic-default", "logistic-predict"),
)
STEPS = ("perceptron-epoch", "perceptron-fit", "lms-epoch")
NO_STEPS = "has no learning sample by sample"
_COMMON = dict.fromkeys(STEPS, NO_STEPS) | {
    "logistic-cv": "is not run: its folds or its grid cannot be made the same",
    "logistic-default": "is not run: its default penalty is another one",
    "logistic-predict": "is not run: its predictions go through the same arithmetic with more checks",
}


def refuse(solved: Mapping[str, object], **sentences: str) -> dict[str, str]:
    """A sentence for every problem that is not solved; keyword names are problems with underscores for hyphens."""
    own = {name.replace("_", "-"): sentence for name, sentence in sentences.items()}
    found = dict.fromkeys(GAUSSIAN, "has no discriminant analysis and no least-squares classifier") | _COMMON | own
    return {problem: sentence for problem, sentence in found.items() if problem not in solved}

"""scikit-learn's callbacks, from its version 1.9 on: progress bars, monitors, and what users write themselves.

A fit is a task.  Its subtasks are the steps of its optimizer, as ``optimize.progress`` reports them: when they are
done, so that their begin and their end come together.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import MethodType
from typing import Any, ClassVar, Self

import sklearn

from discriminant.errors import NotAvailableError


class Callbacks:
    """Adds ``set_callbacks``; scikit-learn's module, and with it its progress bars, waits for the first of them."""

    _step: ClassVar[str] = "step"

    @property
    def set_callbacks(self) -> Callable[..., Self]:
        """``set_callbacks(*callbacks)`` of scikit-learn from 1.9 on; before, an AttributeError that says so."""
        try:
            from sklearn.callback import CallbackSupportMixin
        except ImportError:
            said = f"set_callbacks comes with scikit-learn 1.9, and {sklearn.__version__} is installed."
            raise NotAvailableError(said) from None
        return MethodType(CallbackSupportMixin.set_callbacks, self)

    def _most_steps(self) -> int | None:
        """How many steps a fit takes at most; 0 where it is one piece, None where nobody knows."""
        return None


def fit_watched(model: Any, fit: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``fit`` with the callbacks of the model, which hear of its end whatever happens."""
    from sklearn.callback import with_callbacks

    return with_callbacks(_fit_watched)(model, fit, *args, **kwargs)


def _fit_watched(model: Any, fit: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    from sklearn.callback import CallbackSupportMixin

    from discriminant.optimize.progress import watched

    given = inspect.signature(fit).bind(model, *args, **kwargs).arguments
    weight = given.get("sample_weight")
    data = {"X": given.get("X"), "y": given.get("y"), "metadata": None if weight is None else {"sample_weight": weight}}
    most = model._most_steps()
    context = CallbackSupportMixin._init_callback_context(model, max_subtasks=most)
    root = Watched(model, context, {"estimator": model, **data}, most)
    with watched(root):
        found = fit(model, *args, **kwargs)
    root.end({})
    return found


@contextmanager
def handed_on(model: Any, within: Any, X: Any, y: Any) -> Iterator[None]:
    """The fit of an estimator within a model: what a callback wants of it, it gets from there."""
    root = vars(model).get("_callback_fit_ctx")
    if root is None:
        yield
        return
    from discriminant.optimize.progress import watched

    part = root.subcontext(task_name="fit-classifier")
    with part.propagate_callback_context(within), watched(None):
        part.call_on_fit_task_begin(estimator=model, X=X, y=y)
        yield
    part.call_on_fit_task_end(estimator=model, X=X, y=y)


class Watched:
    """One task of the fit of a model, reported to its callbacks."""

    def __init__(self, model: Any, context: Any, data: dict[str, Any], most: int | None) -> None:
        self.model, self.context, self.data, self.most = model, context, data, most
        self.count, self.stopped = 0, False
        context.call_on_fit_task_begin(**data)

    def step(self, made: Callable[[], Any] | None) -> bool:
        if self.stopped or self.count == self.most:
            return self.stopped
        self.count += 1
        step = self.context.subcontext(task_name=self.model._step).call_on_fit_task_begin(**self.data)
        self.stopped = bool(step.call_on_fit_task_end(**self.data, reconstruction_attributes=made))
        return self.stopped

    def task(self, name: str, most: int | None) -> Watched:
        within = self.context.subcontext(task_name=name, max_subtasks=most)
        return Watched(self.model, within, self.data, most)

    def end(self, made: Any = None) -> None:
        self.context.call_on_fit_task_end(**self.data, reconstruction_attributes=made)

"""Work handed to Dask, whatever its scheduler: threads of this process, a local cluster, or any ``Client``.

One graph a pass: a task a partition, then sums of eight at a time, and the result alone comes back.  A worker that dies
loses nothing but time: its partitions are made again from the graph that they came from, and since the order of
addition is that of the partitions the answer has the same bits.  A scheduler that goes away is told in a sentence.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from discriminant.data import dask_parts as parts_
from discriminant.errors import ClusterError

WIDTH = 8  # sums that are added in one task
RETRIES = 3  # of a task that failed for a reason of its own (a file that could not be read, say)
POLL = 1.0  # seconds between two looks at whether the scheduler is still there
PATIENCE = 10.0  # seconds for which a scheduler may be out of reach
HELD_SHARE = 0.5  # of the workers' memory that the rows may take


def client_in_use() -> Any:
    """The ``Client`` that Dask would use now; None where it works in this process."""
    import dask

    get = dask.base.get_scheduler()
    owner = getattr(get, "__self__", None)
    return owner if type(owner).__name__ == "Client" else None


class Engine:
    """Dask as it is set up when a fit begins."""

    def __init__(self) -> None:
        self.client = client_in_use()

    def memory(self) -> float:
        """Bytes that rows may take where the work is done."""
        if self.client is not None:
            found = self.client.scheduler_info(n_workers=-1)["workers"].values()
            return HELD_SHARE * float(sum(worker.get("memory_limit") or 4e9 for worker in found))
        import os

        return 0.25 * float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))

    def held(self, tasks: Sequence[Any], size: float) -> list[Any]:
        """The tasks' results kept where they are made, if there is room; else they are made again at each pass."""
        import dask

        if size > self.memory():
            return list(tasks)
        return list(self._guarded(lambda: dask.persist(*tasks)))

    def each(self, function: Callable[..., Any], tasks: Sequence[Any], *args: Any) -> list[Any]:
        """function(task, *args) of each, brought here: for small results."""
        import dask

        call = dask.delayed(function, pure=False)
        return list(self.run(dask.delayed(list, pure=False)([call(task, *args) for task in tasks])))

    def total(self, kernel: Any, tasks: Sequence[Any], *args: Any) -> Any:
        """Σ fold(kernel, part, …) over the partitions, tree-wise."""
        import dask

        # The kernel, which holds the weights, is one node of the graph: it travels once to each worker.
        shared = dask.delayed(kernel, pure=False)
        folded, add = dask.delayed(parts_.fold, pure=False), dask.delayed(parts_.add, pure=False)
        level = [folded(shared, task, *args) for task in tasks]
        while len(level) > 1:
            level = [add(level[i : i + WIDTH]) for i in range(0, len(level), WIDTH)]
        return self.run(add(level))

    def run(self, task: Any) -> Any:
        """The result of one task."""
        if self.client is None:
            return task.compute()
        return self._guarded(lambda: self._wait(self.client.compute(task, retries=RETRIES)))

    def _wait(self, future: Any) -> Any:
        lost = 0.0
        while True:
            began = time.monotonic()
            try:
                return future.result(timeout=POLL)
            except TimeoutError:
                status = getattr(self.client, "status", "closed")
                lost = 0.0 if status == "running" else lost + time.monotonic() - began
                if lost > PATIENCE or status == "closed":
                    future.release()
                    raise ConnectionError(f"the client is {status}") from None

    def _guarded(self, work: Callable[[], Any]) -> Any:
        if self.client is None:
            return work()
        from concurrent.futures import CancelledError

        from distributed.comm.core import CommClosedError
        from distributed.scheduler import KilledWorker

        try:
            return work()
        except KilledWorker as error:
            raise ClusterError(
                f"Several workers died one after the other while they worked on the same partition ({error}). It may "
                "be too large for their memory: repartition X into smaller pieces, or give the workers more memory."
            ) from error
        except (CommClosedError, CancelledError, ConnectionError, TimeoutError, OSError) as error:
            raise self._gone(error) from error
        except RuntimeError as error:  # a closed client says so in a RuntimeError
            if self.client.status == "running":
                raise
            raise self._gone(error) from error

    def _gone(self, error: BaseException) -> ClusterError:
        if getattr(self.client, "status", "closed") == "running":
            return ClusterError(
                f"The cluster gave up the rows of this fit ({type(error).__name__}: {error}). Rows that were scattered "
                "from here are lost with the worker that held them; build the collection from files, or fit again."
            )
        return ClusterError(
            f"The Dask scheduler is gone ({type(error).__name__}); the fit was not finished and the model is as it "
            "was. Connect to a cluster (distributed.Client) and fit again."
        )

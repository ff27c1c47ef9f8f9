"""Maps over a few threads, of which the caller's is one: order, errors, forks, maps inside maps."""

from __future__ import annotations

import gc
import os
import threading
import weakref

import numpy as np
import pytest

from discriminant.data.threads import held_blas, ordered_map, scratch


def both_at_once(count: int = 6) -> set[int]:
    """The threads of a map whose first two items need each other."""
    barrier = threading.Barrier(2, timeout=20)

    def who(i: int) -> int:
        if i < 2:
            barrier.wait()
        return threading.get_ident()

    return set(ordered_map(who, range(count), 2))


def test_the_callers_thread_is_one_of_those_of_a_map():
    for _ in range(2):
        found = both_at_once()
        assert len(found) == 2
        assert threading.get_ident() in found


def test_a_map_whose_other_threads_never_begin_is_done_by_the_caller(monkeypatch):
    """Where the cores are taken, another thread may begin after the map has ended."""
    monkeypatch.setattr("_thread.start_new_thread", lambda *_: None)
    found = list(ordered_map(lambda i: (i, threading.get_ident()), range(20), 3))
    assert found == [(i, threading.get_ident()) for i in range(20)]


def test_results_come_in_order_whatever_the_threads_do():
    wait = threading.Event()

    def slow_first(i: int) -> int:
        if i == 0:
            wait.wait(timeout=20)
        if i == 1:
            wait.set()
        return i

    assert list(ordered_map(slow_first, range(10), 3)) == list(range(10))


def test_a_map_inside_a_map_does_not_wait_for_itself():
    def outer(i: int) -> int:
        return sum(ordered_map(lambda j: 10 * i + j, range(4), 2))

    assert list(ordered_map(outer, range(6), 2)) == [40 * i + 6 for i in range(6)]


def test_an_error_reaches_the_caller_and_the_next_map_is_well():
    def fails(i: int) -> int:
        if i == 3:
            raise ValueError("row 3")
        return i

    with pytest.raises(ValueError, match="row 3"):
        list(ordered_map(fails, range(20), 2))
    assert list(ordered_map(abs, range(5), 2)) == list(range(5))


def test_what_has_begun_ends_before_a_map_that_is_left_early_does():
    running, ended = threading.Event(), []

    def slow(i: int) -> int:
        if i > 0:
            running.set()
            threading.Event().wait(0.05)
            ended.append(i)
        return i

    results = ordered_map(slow, range(50), 2)
    assert next(results) == 0
    assert running.wait(timeout=20)
    results.close()
    done = len(ended)
    assert 0 < done < 49
    threading.Event().wait(0.2)
    assert len(ended) == done


def test_no_thread_holds_work_space_when_nothing_is_under_way():
    held: list[weakref.ref] = []

    def work(i: int) -> None:
        held.append(weakref.ref(scratch("block", (1000, 10)).base))

    list(ordered_map(work, range(8), 2))
    gc.collect()
    assert [space() for space in held] == [None] * 8


def test_overflow_in_a_map_stays_silent():
    for _ in range(2):
        found = list(ordered_map(lambda x: np.exp(np.full(3, x)), [1000.0, 2000.0], 2))
        assert np.isinf(found).all()


def maps_in_a_child() -> bool:
    """Whether a forked child can map, too."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            code = 0 if list(ordered_map(abs, range(5), 2)) == list(range(5)) else 2
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own():
    both_at_once()
    assert maps_in_a_child()
    assert list(ordered_map(abs, range(5), 2)) == list(range(5))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_while_a_map_is_under_way_leaves_both_of_use():
    results = ordered_map(abs, range(20), 2)
    assert next(results) == 0
    assert maps_in_a_child()
    assert list(results) == list(range(1, 20))


def test_products_of_tall_rows_start_no_threads_of_blas(monkeypatch):
    """Those spin, and on a busy machine LDA of 5000×50 took ten times as long with them."""
    from threadpoolctl import ThreadpoolController, threadpool_limits

    def most() -> int:
        return max(pool["num_threads"] for pool in ThreadpoolController().info() if pool["user_api"] == "blas")

    monkeypatch.setenv("DISCRIMINANT_NUM_THREADS", "2")
    with threadpool_limits(2, user_api="blas"):
        before = most()
        for columns, rows, held in ((50, 5_000, True), (200, 0, True), (10, 500, False)):
            with held_blas(columns, rows):
                assert most() == (1 if held else before)
        assert most() == before

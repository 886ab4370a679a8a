"""The frames that are still to be made, and those to be tried again elsewhere."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from plenodepth.batch.frames import BatchFrame


@dataclass(eq=False)
class Task:
    """A frame to be made, and where it has been tried."""

    frame: BatchFrame
    tried_on: list[str] = field(default_factory=list)


class TaskQueue:
    """Hands out frames in their order; one that failed goes to a worker that has not tried it, if there is one."""

    def __init__(self, frames: Iterable[BatchFrame], *, retries: int) -> None:
        self._new = deque(Task(frame) for frame in frames)
        self._again = deque[Task]()
        self._retries = retries

    def __len__(self) -> int:
        return len(self._new) + len(self._again)

    def take(self, worker: str, workers: Collection[str]) -> Task | None:
        """The next frame for one of these workers; None if there is none for it now."""
        for task in self._again:
            if worker not in task.tried_on or set(workers) <= set(task.tried_on):
                self._again.remove(task)
                break
        else:
            if not self._new:
                return None
            task = self._new.popleft()
        task.tried_on.append(worker)
        return task

    def again(self, task: Task) -> bool:
        """Put a task that failed back, unless it has been tried often enough: False."""
        if len(task.tried_on) > self._retries:
            return False
        self._again.append(task)
        return True

    def untried(self, task: Task) -> None:
        """Put a task back that its last worker has not begun."""
        task.tried_on.pop()
        self._again.appendleft(task)

"""A decorator: what a tool function returns becomes a program."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ParamSpec, overload

from .._arrays import describe
from ..errors import InputError
from ..images import load_image
from ..program import PerceptionProgram
from ._returned import CONVERTERS, check_options, program_of

__all__ = ["as_program"]

P = ParamSpec("P")


@overload
def as_program(
    modality: Callable[P, Coroutine[Any, Any, Any]], /
) -> Callable[P, Coroutine[Any, Any, PerceptionProgram]]: ...


@overload
def as_program(modality: Callable[P, Any], /) -> Callable[P, PerceptionProgram]: ...


@overload
def as_program(
    modality: str | None = None,
    /,
    *,
    pick: Callable[[Any], Any] | None = None,
    of: str | Sequence[str] | None = None,
    **options: Any,
) -> Callable[[Callable[P, Any]], Callable[P, Any]]: ...


def as_program(
    modality: Any = None,
    /,
    *,
    pick: Callable[[Any], Any] | None = None,
    of: str | Sequence[str] | None = None,
    **options: Any,
) -> Any:
    """Turn a function that returns a tool's result into one that returns a perception program.

    Bare, where what it returns says what it is: a result type of this package, a detector's result, an
    H×W×2 array of floats, which is a flow field. Else with the modality, and with any options of its
    converter: of `@as_program("depth", kind="metric", grid=6)` the program is
    `depth_program(returned, kind="metric", grid=6)`.

    The parameters, the name and the docstring are the function's own. Methods, `async` functions and
    callable objects, such as a pipeline, do as well. A program that is returned already is left alone.
    `meta["tool"]` has the function's name.

    Args:
        modality: `depth`, `flow`, `correspondence`, `detection`, `segmentation`, `semantic`, `points`,
            `jigsaw`, `albedo` or `similarity`; bare, the function itself.
        pick: what the program is made of, where the function returns more than that. It is called with
            what was returned: `pick=lambda returned: returned[1]` where that is a picture and a map.
        of: the name of the function's parameter that is the picture, or the names of both. The program
            knows it then, to be drawn on, and a result that lacks the picture's size has it from there.
        options: of the converter.

    Raises:
        InputError: no such modality, option or parameter. When the function is called: what it
            returned may be of several modalities or of none, or cannot be read as the one said.

    >>> import numpy as np
    >>> @as_program("depth", kind="metric", grid=(1, 2))
    ... def measured(street: str) -> np.ndarray:
    ...     '''Metres from the camera.'''
    ...     return np.repeat([[1.0, 4.0]], 8, axis=0).repeat(8, axis=1)
    >>> [item.r for item in measured("Main Street").items]
    [(1.0, 1.0), (0.0, 0.0)]
    >>> measured.__doc__
    'Metres from the camera.'
    """
    named = None if modality is None or not isinstance(modality, str) else modality
    if named is not None:
        check_options(named, options)
    elif options:
        name, value = next(iter(options.items()))
        raise InputError(
            f"{name}: expected the modality before an option of its converter, such as "
            f'@as_program("depth", {name}={value!r})'
        )
    pictures = (of,) if isinstance(of, str) else tuple(of or ())
    how = _How(named, pick, pictures, options)
    if modality is None or named is not None:
        return functools.partial(_decorated, how=how)
    return _decorated(modality, how)


@dataclass(frozen=True)
class _How:
    """How what was returned becomes a program."""

    modality: str | None
    pick: Callable[[Any], Any] | None
    of: tuple[str, ...]
    options: Mapping[str, Any]

    def program(self, name: str, returned: Any, pictures: Sequence[Any]) -> PerceptionProgram:
        """The program of what the function `name` returned, called with `pictures`."""
        if self.pick is not None:
            returned = self.pick(returned)
        if isinstance(returned, PerceptionProgram):
            return returned
        images = [load_image(picture) for picture in pictures]
        sizes = [(image.shape[1], image.shape[0]) for image in images]
        program = program_of(returned, self.modality, self.options, sizes, name)
        program = replace(program, meta={**program.meta, "tool": name})
        return program.with_images(*pictures) if pictures else program


def _decorated(function: Any, how: _How) -> Any:
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(_decorated(function.__func__, how))
    if not callable(function):
        raise InputError(
            f"as_program: expected a function, or one of {', '.join(CONVERTERS)}, "
            f"got {describe(function)}"
        )
    name = getattr(function, "__name__", type(function).__name__)
    signature = _signature(function)
    _check_of(how.of, signature, name)

    def pictures(args: Any, kwargs: Any) -> list[Any]:
        if signature is None or not how.of:
            return []
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return [bound.arguments[parameter] for parameter in how.of]

    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        type(function).__call__
    ):

        async def later(*args: Any, **kwargs: Any) -> PerceptionProgram:
            seen = pictures(args, kwargs)
            return how.program(name, await function(*args, **kwargs), seen)

        return _dressed(later, function, signature)

    def now(*args: Any, **kwargs: Any) -> PerceptionProgram:
        seen = pictures(args, kwargs)
        return how.program(name, function(*args, **kwargs), seen)

    return _dressed(now, function, signature)


def _signature(function: Any) -> inspect.Signature | None:
    """What a function takes; None for some that are written in C."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def _check_of(of: Sequence[str], signature: inspect.Signature | None, name: str) -> None:
    known = () if signature is None else tuple(signature.parameters)
    for parameter in of:
        if parameter not in known:
            raise InputError(
                f"of: expected a parameter of {name} ({', '.join(known) or 'it has none'}), "
                f"got {parameter!r}"
            )


def _dressed(wrapper: Any, function: Any, signature: inspect.Signature | None) -> Any:
    """A wrapper with the function's name, docstring and parameters, and its own return type."""
    # The attributes of an object that is called, such as a pipeline's model, are no concern of it.
    updated = functools.WRAPPER_UPDATES if inspect.isroutine(function) else ()
    functools.update_wrapper(wrapper, function, updated=updated)
    hints = getattr(function, "__annotations__", {})
    wrapper.__annotations__ = {**hints, "return": PerceptionProgram}
    if signature is not None:
        wrapper.__signature__ = signature.replace(return_annotation=PerceptionProgram)
    return wrapper

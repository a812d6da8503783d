"""Arithmetic that a model writes, worked out by simpleeval, which runs no code."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

from ..errors import InputError, MissingExtraError, install_command

__all__ = ["calculate"]

_LONGEST = 1000  # characters of an expression
_LARGEST_POWER = 10_000  # bits that a power of whole numbers may have
_LARGEST_FACTORIAL = 500
_SIGNS = str.maketrans({"×": "*", "÷": "/", "−": "-", "·": "*", "²": "^2", "³": "^3"})

_CONSTANTS = {"pi": math.pi, "e": math.e, "tau": math.tau, "inf": math.inf}


def calculate(expression: str) -> str:
    """The value of an arithmetic expression, as text.

    It knows `+ - * / // % ^ **`, brackets, signs, comparisons, lists, `pi`, `e`, `tau`, and the functions
    abs, round, min, max, sum, mean, sqrt, cbrt, exp, log, log2, log10, sin, cos, tan, asin, acos, atan,
    atan2, hypot, degrees, radians, floor, ceil, factorial, comb, gcd. `^` is a power.

    Raises:
        InputError: it is no such expression, has no value, or would take too long to work out.
        MissingExtraError: simpleeval is not installed.

    >>> calculate("2 ^ 10 // 3 - -1"), calculate("sqrt(2) * pi")
    ('342', '4.442882938158366')
    """
    try:
        import simpleeval
    except ImportError:
        raise MissingExtraError(
            f"the calculator needs simpleeval: {install_command('harness')}"
        ) from None
    if not isinstance(expression, str) or not expression.strip():
        raise InputError("expression: expected arithmetic, got nothing")
    if len(expression) > _LONGEST:
        raise InputError(
            f"expression: expected at most {_LONGEST} characters, got {len(expression)}"
        )
    evaluator = simpleeval.EvalWithCompoundTypes(
        operators=_operators(simpleeval.DEFAULT_OPERATORS),
        functions=_FUNCTIONS,
        names=dict(_CONSTANTS),
    )
    try:
        return _written(evaluator.eval(_powers(expression.strip().translate(_SIGNS))))
    except InputError:
        raise
    except (simpleeval.InvalidExpression, SyntaxError, RecursionError, MemoryError) as error:
        raise InputError(f"expression: expected arithmetic: {_said(error)}") from None
    except (ArithmeticError, ValueError, TypeError) as error:
        raise InputError(f"expression: it has no value: {_said(error)}") from None


def _powers(expression: str) -> str:
    """The expression with `^` as Python writes a power, which also binds as tightly."""
    return expression.replace("^", "**")


def _operators(known: dict[Any, Any]) -> dict[Any, Any]:
    wanted = (ast.Add, ast.Sub, ast.Div, ast.Mod, ast.USub, ast.UAdd, ast.Eq, ast.NotEq)
    more = (ast.Lt, ast.Gt, ast.LtE, ast.GtE)
    return {
        **{kind: known[kind] for kind in (*wanted, *more)},
        ast.FloorDiv: operator.floordiv,
        ast.Mult: _product,
        ast.Pow: _power,
    }


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"expression: expected numbers, got {type(value).__name__}")
    return value


def _product(first: Any, second: Any) -> Any:
    return _number(first) * _number(second)


def _power(base: Any, exponent: Any) -> Any:
    """A power that is no longer than can be worked out at once."""
    whole = isinstance(_number(base), int) and isinstance(_number(exponent), int)
    if whole and abs(base) > 1 and exponent * math.log2(abs(base)) > _LARGEST_POWER:
        raise InputError(f"expression: {base} ^ {exponent} is too large to work out")
    value = base**exponent
    if isinstance(value, complex):
        raise InputError(f"expression: {base} ^ {exponent} is no real number")
    return value


def _factorial(n: int) -> int:
    if not isinstance(n, int) or not 0 <= n <= _LARGEST_FACTORIAL:
        raise InputError(f"expression: factorial: expected 0 to {_LARGEST_FACTORIAL}, got {n}")
    return math.factorial(n)


def _comb(n: int, k: int) -> int:
    if not 0 <= n <= _LARGEST_FACTORIAL:
        raise InputError(f"expression: comb: expected 0 to {_LARGEST_FACTORIAL}, got {n}")
    return math.comb(n, k)


def _listed(function: Callable[[list[Any]], Any]) -> Callable[..., Any]:
    """A function of a list that also takes its members one by one."""

    def called(*values: Any) -> Any:
        members = values[0] if len(values) == 1 and isinstance(values[0], (list, tuple)) else values
        return function([_number(value) for value in members])

    return called


def _mean(values: list[Any]) -> float:
    if not values:
        raise InputError("expression: mean: expected numbers, got none")
    return math.fsum(values) / len(values)


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{
        name: getattr(math, name)
        for name in (
            *("sqrt", "exp", "log", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan"),
            *("atan2", "hypot", "degrees", "radians", "floor", "ceil"),
        )
    },
    "cbrt": lambda value: math.copysign(abs(value) ** (1 / 3), value),
    "ln": math.log,
    "abs": abs,
    "round": round,
    "min": _listed(min),
    "max": _listed(max),
    "sum": _listed(lambda values: reduce(operator.add, values, 0)),
    "mean": _listed(_mean),
    "factorial": _factorial,
    "comb": _comb,
    "gcd": _listed(lambda values: math.gcd(*values)),
}


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(_number(value), float) and not math.isfinite(value):
        raise InputError("expression: its value is not finite")
    return str(value)


def _said(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return text[:200] or type(error).__name__

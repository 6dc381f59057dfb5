"""What a plugin uses of its engine, held against the engine on the path: names, overridden methods, and calls."""

import ast
import importlib
import inspect
import json
import re
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FunctionType
from typing import Any


@dataclass
class EngineUse:
    """What was found. Of calls, those whose owner is imported, `super()` or a parameter with an engine's type."""

    faults: list[str] = field(default_factory=list)
    overridden: set[str] = field(default_factory=set)
    calls: int = 0


def find_engine_use(package: str, engine: str) -> EngineUse:
    """Reads and imports all modules of the plugin."""
    use = EngineUse()
    folder = Path(importlib.import_module(package).__file__).parent
    for file in sorted(folder.rglob("*.py")):
        parts = file.relative_to(folder.parent).with_suffix("").parts
        if parts[-1] != "__main__":
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            _Module(use, engine, name, ast.parse(file.read_text())).check()
    return use


class _Module:
    def __init__(self, use: EngineUse, engine: str, name: str, tree: ast.Module) -> None:
        self._use, self._engine, self._name, self._tree = use, engine, name, tree
        self._known: dict[str, Any] = {}
        """what is imported from the engine"""

    def check(self) -> None:
        """Adds to the use."""
        for node in ast.walk(self._tree):
            if isinstance(node, ast.ImportFrom) and self._is_engines(node.module):
                for alias in node.names:
                    self._import(node, alias)
        try:
            module = importlib.import_module(self._name)
        except ImportError as error:
            self._fault(None, str(error))
            return
        for cls in vars(module).values():
            if isinstance(cls, type) and cls.__module__ == self._name:
                self._check_class(cls)
        for node in ast.walk(self._tree):
            if isinstance(node, ast.ClassDef):
                for method in node.body:
                    if isinstance(method, ast.FunctionDef):
                        self._check_function(method, getattr(module, node.name, None))
            elif isinstance(node, ast.Module):
                for function in node.body:
                    if isinstance(function, ast.FunctionDef):
                        self._check_function(function, None)

    def _is_engines(self, module: str | None) -> bool:
        return module is not None and module.split(".")[0] == self._engine

    def _import(self, node: ast.ImportFrom, alias: ast.alias) -> None:
        try:
            owner = importlib.import_module(node.module)
            if not hasattr(owner, alias.name):
                importlib.import_module(f"{node.module}.{alias.name}")
            self._known[alias.asname or alias.name] = getattr(owner, alias.name)
        except ImportError as error:
            self._fault(node, str(error))

    def _fault(self, node: ast.AST | None, what: str) -> None:
        self._use.faults.append(f"{self._name}{f':{node.lineno}' if node else ''}: {what}")

    # ---- overridden methods

    def _check_class(self, cls: type) -> None:
        bases = [base for base in cls.__mro__ if self._is_engines(base.__module__)]
        if bases and getattr(cls, "__abstractmethods__", None) and not cls.__subclasses__():
            self._fault(None, f"{cls.__name__} lacks {', '.join(sorted(cls.__abstractmethods__))}")
        for name, ours in vars(cls).items():
            theirs = next((vars(base)[name] for base in bases if name in vars(base)), None)
            ours, theirs = (getattr(one, "__func__", one) for one in (ours, theirs))
            if not isinstance(ours, FunctionType) or not isinstance(theirs, FunctionType) or name == "__init__":
                continue
            self._use.overridden.add(f"{cls.__name__}.{name}")
            if refused := _refused(inspect.signature(ours), inspect.signature(theirs)):
                self._fault(None, f"{cls.__name__}.{name}: {refused}; the engine's is {inspect.signature(theirs)}")

    # ---- calls and attributes

    def _check_function(self, function: ast.FunctionDef, cls: type | None) -> None:
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        typed = {one.arg: kind for one in arguments if (kind := self._type_of(one.annotation))}
        for node in ast.walk(function):
            if isinstance(node, ast.Call):
                self._check_call(node, self._called(node.func, typed, cls))
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in typed:
                kind = typed[node.value.id]
                if isinstance(node.ctx, ast.Load) and not _has(kind, node.attr):
                    self._fault(node, f"{kind.__name__} has no {node.attr}")

    def _type_of(self, annotation: ast.expr | None) -> type | None:
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            annotation = ast.parse(annotation.value, mode="eval").body
        if isinstance(annotation, ast.BinOp):
            return self._type_of(annotation.left) or self._type_of(annotation.right)
        known = self._known.get(annotation.id) if isinstance(annotation, ast.Name) else None
        return known if isinstance(known, type) else None

    def _called(self, func: ast.expr, typed: dict[str, type], cls: type | None) -> Callable[..., Any] | None:
        if isinstance(func, ast.Name):
            return self._known.get(func.id)
        if not isinstance(func, ast.Attribute):
            return None
        owner, name = func.value, func.attr
        if isinstance(owner, ast.Name):
            # an instance's method lacks `self` once it is bound to something
            found = getattr(typed.get(owner.id), name, None)
            return found.__get__(object()) if isinstance(found, FunctionType) else getattr(
                self._known.get(owner.id), name, None
            )  # fmt: skip
        if cls and isinstance(owner, ast.Call) and isinstance(owner.func, ast.Name) and owner.func.id == "super":
            bases = [base for base in cls.__mro__[1:] if name in vars(base)]
            found = vars(bases[0])[name] if bases and self._is_engines(bases[0].__module__) else None
            return found.__get__(object()) if isinstance(found, FunctionType) else None
        return None

    def _check_call(self, node: ast.Call, called: Callable[..., Any] | None) -> None:
        if not callable(called):
            return
        try:
            signature = inspect.signature(called)
        except ValueError:
            return
        plain = [one for one in node.args if not isinstance(one, ast.Starred)]
        named = {one.arg: None for one in node.keywords if one.arg}
        is_whole = len(plain) == len(node.args) and len(named) == len(node.keywords)
        self._use.calls += 1
        try:
            (signature.bind if is_whole else signature.bind_partial)(*plain, **named)
        except TypeError as error:
            self._fault(node, f"{ast.unparse(node.func)}: {error}; the engine's is {signature}")


def _refused(ours: inspect.Signature, theirs: inspect.Signature) -> str | None:
    """Returns why a call that the engine's own method takes is refused by the one that overrides it."""
    kinds = inspect.Parameter
    rest = (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)
    parameters = [one for one in theirs.parameters.values() if one.kind not in rest]
    for given in (parameters, [one for one in parameters if one.default is kinds.empty]):
        by_place = [one.name for one in given if one.kind is not kinds.KEYWORD_ONLY]
        by_name = {one.name: None for one in given if one.kind is kinds.KEYWORD_ONLY}
        try:
            ours.bind(*by_place, **by_name)
        except TypeError as error:
            # SGLang passes what is optional by name
            try:
                ours.bind(*by_place[:1], **dict.fromkeys(by_place[1:]), **by_name)
            except TypeError:
                return str(error)
    return None


def _has(kind: type, name: str) -> bool:
    """Whether instances, also of derived classes, have it: as a member, or because a method of the class sets it."""
    return hasattr(kind, name) or any(
        name in getattr(base, "__annotations__", ()) or re.search(rf"\bself\.{name}\b.*=", inspect.getsource(base))
        for base in kind.__mro__
        if base.__module__ not in ("builtins", "abc", "typing")
    ) or any(_has(derived, name) for derived in kind.__subclasses__())  # fmt: skip


if __name__ == "__main__":
    found = find_engine_use(*sys.argv[1:3])
    version = importlib.import_module(sys.argv[2]).__version__
    print(json.dumps({**asdict(found), "overridden": sorted(found.overridden), "version": version}))

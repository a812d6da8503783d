"""Models of any provider, and of any server that speaks OpenAI's protocol, through LiteLLM."""

from __future__ import annotations

import asyncio
import logging
import os
import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from .._arrays import describe
from ..errors import InputError, MissingExtraError, install_command
from ._address import checked_address, without_secrets
from ._images import IMAGE_BYTES, SMALLEST_IMAGE_BYTES, encode_image
from ._litellm_errors import malformed
from .messages import Message, Part, Picture, Text, ToolCall
from .model import ChatError, Reply, ToolSpec, Usage, checked_temperature

__all__ = ["LiteLLMModel", "estimate_cost"]

_OWN_SERVER = "hosted_vllm"
"""What LiteLLM calls any server of OpenAI's protocol that isn't OpenAI's."""

_OURS = frozenset(
    (
        *("model", "custom_llm_provider", "messages", "base_url", "api_base", "api_key"),
        *("temperature", "max_tokens", "seed", "timeout", "stream", "n"),
        *("num_retries", "max_retries", "fallbacks"),
        *("input_cost_per_token", "output_cost_per_token"),
    )
)
"""Fields of a request that have an option of their own, or that the run depends on."""

_PASSING = (408, 409, 425, 429)
"""Statuses below 500 after which asking again may help."""

_HOPELESS = {"insufficient_quota": 402, "Missing credentials": 401}
"""An account without credit, answered with 429, and a key that is nowhere, with 500; and the
statuses that say so."""

_UNCONNECTED = ("ConnectError", "ClientConnectorError", "ConnectionRefusedError")
"""What httpx, aiohttp and Python call a connection that did not come about."""

_KEYED = ("openai", "anthropic", "gemini", "mistral", "openrouter")
"""Providers that answer nobody without a key, in one of the variables that LiteLLM names. Of others it
may know one way in of several."""

_open: WeakSet[LiteLLMModel] = WeakSet()


class LiteLLMModel:
    """A model that LiteLLM reaches.

    Nothing that is asked for is left out silently: a provider that takes no `temperature` or
    `seed` refuses the request, and the error says so. Requests are never repeated here; that is
    for `ask` to do.

    Args:
        name: as LiteLLM writes it, `PROVIDER/MODEL` or a name it knows (`gpt-5-mini`,
            `gemini/gemini-2.5-pro`). With `base_url`, also any name that the server gives its
            model; put `hosted_vllm/` before one whose first part is the name of a provider.
        base_url: the address of a server that speaks OpenAI's protocol, with its `/v1`.
        api_key: a key; by default from the environment, under the name that the provider uses
            (`OPENAI_API_KEY`, …).
        temperature: of sampling; by default the provider's.
        max_tokens: the most tokens of an answer, hidden reasoning included.
        timeout: seconds for one answer.
        long_side: the most pixels of a picture's longer side; by default as many as it has.
        image_bytes: the most bytes of a picture once encoded in base64.
        extra: further fields of the request, such as `{"reasoning_effort": "low"}`.
        seed: of sampling, where the provider takes one.

    Raises:
        InputError: an option is out of range, or nobody provides a model of that name.
        MissingExtraError: LiteLLM is not installed.
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        temperature: float | None = None,
        max_tokens: int = 8192,
        timeout: float = 600.0,
        long_side: int | None = None,
        image_bytes: int = IMAGE_BYTES,
        extra: Mapping[str, Any] | None = None,
        seed: int | None = None,
    ) -> None:
        for what, value, least in (
            ("max_tokens", max_tokens, 1),
            ("timeout", timeout, 0),
            ("long_side", 1 if long_side is None else long_side, 1),
            ("image_bytes", image_bytes, SMALLEST_IMAGE_BYTES),
        ):
            if not value >= least:
                raise InputError(f"{what}: expected at least {least}, got {describe(value)}")
        taken = _OURS & set(extra or ())
        if taken:
            raise InputError(f"extra: expected fields without an option, got {sorted(taken)}")
        self.name = name
        self._base_url, self._api_key = checked_address(base_url), api_key
        self._timeout, self._long_side, self._image_bytes = timeout, long_side, image_bytes
        temperature = checked_temperature(temperature)
        self._sampling = {"temperature": temperature, "max_tokens": max_tokens, "seed": seed}
        self._extra = dict(extra or {})
        self._urls: WeakKeyDictionary[Picture, str] = WeakKeyDictionary()
        self._litellm = _litellm()
        self._model, self._provider = _resolve(self._litellm, name, base_url)
        self._priced = _has_price(self._litellm, self._model, self._provider)
        self._request = self._fixed_fields()

    def settings(self) -> Mapping[str, Any]:
        """What decides its answers. Keys, passwords and the values of headers are left out; those of
        the server's query are told apart by a digest.
        """
        return {
            "kind": "litellm",
            "provider": self._provider,
            "model": self._model,
            "base_url": without_secrets(
                self._base_url or _address_set(self._litellm, self._provider)
            ),
            **self._sampling,
            "long_side": self._long_side,
            "image_bytes": self._image_bytes,
            "extra": {
                key: sorted(value) if "headers" in key and isinstance(value, Mapping) else value
                for key, value in self._extra.items()
            },
        }

    def check_key(self) -> None:
        """Refuse to begin without the key that the provider is known to ask for; asks nobody.

        Raises:
            InputError: it is nowhere; the message names the environment variable.
        """
        missing = self._missing_key()
        if missing is not None and self._provider in _KEYED:
            raise InputError(missing)

    async def answer(self, messages: Sequence[Message]) -> Reply:
        """Its answer to a conversation; an answer cut by `max_tokens` finishes with `length`.

        Raises:
            ChatError: it gave none.
            InputError: a picture cannot be read.
        """
        return await self._answer(messages, {})

    async def answer_or_call(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        """Its answer to a conversation, or the tools that it asks for.

        Raises:
            ChatError: it gave neither.
            InputError: a picture cannot be read.
        """
        offered = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": dict(tool.parameters),
                },
            }
            for tool in tools
        ]
        return await self._answer(messages, {"tools": offered} if offered else {})

    async def _answer(self, messages: Sequence[Message], fields: Mapping[str, Any]) -> Reply:
        sent = await self._sent(messages)
        _open.add(self)
        try:
            with _unlogged(self._litellm):
                response = await asyncio.wait_for(
                    self._litellm.acompletion(messages=sent, **self._request, **fields),
                    self._timeout,
                )
        except asyncio.TimeoutError as error:
            raise ChatError(f"no answer within {self._timeout:g} s", transient=True) from error
        except Exception as error:  # LiteLLM raises its own, the client's and Python's
            raise self._chat_error(error) from error
        return self._reply(response)

    async def close(self) -> None:
        """Close the connections, once the last of these models is closed: LiteLLM shares them."""
        if self not in _open:
            return
        _open.discard(self)
        if not _open:
            await self._litellm.close_litellm_async_clients()
            self._litellm.in_memory_llm_clients_cache.flush_cache()

    def _fixed_fields(self) -> dict[str, Any]:
        """The fields of a request that are the same each time."""
        fields = {
            **{name: value for name, value in self._sampling.items() if value is not None},
            **self._extra,
            "model": self._model,
            "custom_llm_provider": self._provider,
            "timeout": self._timeout,
            "num_retries": 0,
            "max_retries": 0,
        }
        if self._base_url is not None:
            fields["api_base"] = self._base_url
        if self._api_key is not None:
            fields["api_key"] = self._api_key
        elif self._base_url and self._provider == "openai" and "OPENAI_API_KEY" not in os.environ:
            fields["api_key"] = "none"  # OpenAI's client asks for one even where the server doesn't
        if not self._priced:
            # Otherwise LiteLLM looks for a price after every answer, in vain and at length, and of a
            # price of zero it looks for the reason. What it computes from this is never read.
            fields |= {"input_cost_per_token": 1e-12, "output_cost_per_token": 1e-12}
        return fields

    async def _sent(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """The messages in OpenAI's form; pictures are encoded outside the event loop."""
        new = list({p: None for m in messages for p in m.pictures if p not in self._urls})
        if new:
            for picture, url in zip(new, await asyncio.to_thread(self._encode, new), strict=True):
                self._urls[picture] = url
        return [self._message(m) for m in messages]

    def _message(self, message: Message) -> dict[str, Any]:
        sent: dict[str, Any] = {"role": message.role, "content": self._content(message)}
        if message.calls:
            sent["content"] = sent["content"] or None  # some servers refuse an empty text
            sent["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in message.calls
            ]
        if message.answers is not None:
            sent["tool_call_id"] = message.answers
        return sent

    def _encode(self, pictures: Sequence[Picture]) -> list[str]:
        return [
            encode_image(p.image, long_side=self._long_side, limit=self._image_bytes).url
            for p in pictures
        ]

    def _content(self, message: Message) -> str | list[dict[str, Any]]:
        if not message.pictures:  # as plain text, which every server reads
            return message.text
        content: list[dict[str, Any]] = []
        before: Part | None = None
        for part in message.parts:
            if isinstance(part, Picture):
                content.append({"type": "image_url", "image_url": {"url": self._urls[part]}})
            elif isinstance(before, Text):  # one piece, or the server chooses what is between them
                content[-1]["text"] += f"\n\n{part.text}"
            else:
                content.append({"type": "text", "text": part.text})
            before = part
        return content

    def _reply(self, response: Any) -> Reply:
        try:
            choice = response.choices[0]
            text, finish = _visible(choice.message.content), choice.finish_reason
            calls = tuple(
                ToolCall(call.id or "", call.function.name or "", call.function.arguments or "")
                for call in choice.message.tool_calls or ()
            )
        except (AttributeError, IndexError, TypeError) as error:
            raise ChatError("the answer holds no message", transient=True) from error
        return Reply(text, self._usage(response), response.model or None, finish, calls)

    def _usage(self, response: Any) -> Usage:
        usage = getattr(response, "usage", None)
        if usage is None or not usage.total_tokens:  # LiteLLM puts zeros where the server is silent
            return Usage()
        details = getattr(usage, "completion_tokens_details", None)
        hidden = getattr(response, "_hidden_params", None) or {}
        return Usage(
            usage.prompt_tokens,
            usage.completion_tokens,
            getattr(details, "reasoning_tokens", None),
            hidden.get("response_cost") if self._priced else None,
        )

    def _missing_key(self) -> str | None:
        """Which environment variable lacks the key, as far as LiteLLM knows; None if none does."""
        if self._api_key is not None or self._base_url is not None:
            return None
        found = self._litellm.validate_environment(f"{self._provider}/{self._model}")
        names = [name for name in found["missing_keys"] if name.endswith("_KEY")]
        if found["keys_in_environment"] or not names:
            return None
        return (
            f"model: {self.name!r} needs a key in the environment variable {' or '.join(names)}, "
            "which is not set; see docs/models.md"
        )

    def _chat_error(self, error: Exception) -> ChatError:
        form = malformed(error)
        if form is not None:
            return ChatError(form, transient=False, broken=True)
        status = getattr(error, "status_code", None)
        text = " ".join(str(error).split())[:500] or type(error).__name__
        if self._api_key:
            text = text.replace(self._api_key, "…")
        # Any status but a refusal stands for a broken connection or reply, 200 too.
        refused = isinstance(status, int) and 400 <= status < 500 and status not in _PASSING
        hopeless = next((code for words, code in _HOPELESS.items() if words in text), None)
        status = status if hopeless is None else hopeless
        if status == 401:
            missing = self._missing_key()
            text = text if missing is None else f"{missing} ({text})"
        unreachable = _is_unreachable(error)
        if unreachable and self._base_url is not None:
            place = without_secrets(self._base_url)
            text = f"nobody answers at {place}: is the server up, and --base-url right? ({text})"
        return ChatError(
            text,
            transient=not refused and hopeless is None,
            retry_after=_retry_after(error),
            status=status if isinstance(status, int) else None,
            unreachable=unreachable,
        )


def estimate_cost(name: str, prompt_tokens: int, completion_tokens: int) -> float | None:
    """US dollars by the price list that LiteLLM carries; None for a model that it has no price of.

    Raises:
        MissingExtraError: LiteLLM is not installed.
    """
    litellm = _litellm()
    try:
        model, provider, _, _ = litellm.get_llm_provider(name)
    except litellm.exceptions.BadRequestError:
        return None
    if not _has_price(litellm, model, provider):
        return None
    prompt, completion = litellm.cost_per_token(
        model=model,
        custom_llm_provider=provider,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
    )
    return float(prompt + completion)


@cache
def _litellm() -> Any:
    """LiteLLM, quiet and without a look into the network when it is imported."""
    if "LITELLM_LOCAL_MODEL_COST_MAP" not in os.environ:
        os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    if "LITELLM_LOG" not in os.environ:
        logging.getLogger("LiteLLM").setLevel(logging.ERROR)
    try:
        import litellm
    except ImportError as error:
        raise MissingExtraError(
            f"models of providers and servers need LiteLLM: {install_command('eval')}"
        ) from error
    litellm.suppress_debug_info = True
    # From its own types, when it first answers.
    warnings.filterwarnings("ignore", r"Items? .* on TypedDict class", UserWarning)
    # Of a reply in another form, which is an error that says so.
    warnings.filterwarnings("ignore", r"Pydantic serializer warnings", UserWarning)
    # Of requests that had not begun when a run was ended.
    warnings.filterwarnings("ignore", r"coroutine '.*completion' was never awaited", RuntimeWarning)
    return litellm


def _address_set(litellm: Any, provider: str) -> str | None:
    """The address that LiteLLM takes for a provider where it is given none, if the environment has one."""
    names = (f"{provider.upper()}_BASE_URL", f"{provider.upper()}_API_BASE")
    found = (litellm.api_base, *map(os.environ.get, names))
    return next((str(address) for address in found if address), None)


def _resolve(litellm: Any, name: str, base_url: str | None) -> tuple[str, str]:
    """The model's name at its provider, and the provider."""
    try:
        model, provider, _, _ = litellm.get_llm_provider(name, api_base=base_url)
    except litellm.exceptions.BadRequestError:
        if base_url is None:
            raise InputError(
                f"model: expected a name that LiteLLM knows or PROVIDER/MODEL, got {name!r}; "
                "for a server of your own also give its address (base_url)"
            ) from None
        return name, _OWN_SERVER
    return model, provider


def _has_price(litellm: Any, model: str, provider: str) -> bool:
    try:
        info = litellm.get_model_info(model, custom_llm_provider=provider)
    except Exception:  # of no particular kind: the model is not on the list
        return False
    return bool(info.get("input_cost_per_token") or info.get("output_cost_per_token"))


def _unlogged(litellm: Any) -> AbstractContextManager[None]:
    """Spares the record of each answer that LiteLLM prepares for callbacks where there is none.

    It takes a fifth of the time that LiteLLM spends on an answer.
    """
    if litellm.callbacks or litellm.success_callback or litellm.failure_callback:
        return nullcontext()
    try:
        from litellm._internal_context import internal_sub_call
    except ImportError:  # it is not part of the public interface
        return nullcontext()
    return internal_sub_call()  # type: ignore[no-any-return]


def _is_unreachable(error: BaseException | None) -> bool:
    """Whether an error came of a connection that did not come about, in whichever library."""
    while error is not None:
        if type(error).__name__ in _UNCONNECTED:
            return True
        error = error.__cause__ or error.__context__
    return False


def _visible(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content if part.get("type") == "text")
    return content or ""


def _retry_after(error: Exception) -> float | None:
    """Seconds that the server asked to wait, from a number of seconds or an HTTP date."""
    headers = getattr(error, "litellm_response_headers", None) or {}
    value = {name.lower(): value for name, value in headers.items()}.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return max(0.0, (moment - datetime.now(timezone.utc)).total_seconds())

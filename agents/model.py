"""Chat models for the `llm` engines: one small interface over LangChain, retries bounded, usage accounted.

Any provider of `init_chat_model`, or any OpenAI-compatible server (vLLM) by `base_url`.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from agent_world.errors import ModelError, UsageError
from agent_world.settings import ModelConfig

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

S = TypeVar("S", bound=BaseModel)
Messages = Sequence[tuple[str, str]]
"""`(role, text)`; roles `system`, `user`, `assistant`."""


@dataclass(slots=True)
class Usage:
    """What a model has cost so far."""

    calls: int = 0
    """Questions asked, whether an answer came or not."""
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    """Of waiting for answers; calls that overlap count each."""

    def add(self, message: "BaseMessage") -> None:
        """Of an answer."""
        counted = getattr(message, "usage_metadata", None) or {}
        self.input_tokens += counted.get("input_tokens", 0)
        self.output_tokens += counted.get("output_tokens", 0)


class Model(Protocol):
    """What an `llm` engine needs of a model. Both calls raise `ModelError` once the retries are spent."""

    @property
    def name(self) -> str: ...

    @property
    def usage(self) -> Usage: ...

    async def text(self, messages: Messages) -> str: ...

    async def structured(self, schema: type[S], messages: Messages) -> S:
        """An instance of `schema`; a reply that does not fit is sent back with the error."""
        ...


@dataclass(frozen=True, slots=True)
class Asked:
    """A tool call as the model wrote it. `problem` says why it cannot be made, with `arguments` empty then."""

    id: str
    tool: str
    arguments: dict[str, Any]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """One turn of a model that has tools."""

    text: str
    calls: tuple[Asked, ...] = ()


@dataclass(slots=True)
class LangChainModel:
    chat: "BaseChatModel"
    config: ModelConfig
    usage: Usage = field(default_factory=Usage)

    @property
    def name(self) -> str:
        return self.config.name

    def uncounted(self) -> "LangChainModel":
        """The same model, with a count of its own."""
        return LangChainModel(self.chat, self.config)

    async def text(self, messages: Messages) -> str:
        return str((await self._ask(list(messages))).text)

    async def structured(self, schema: type[S], messages: Messages) -> S:
        form = f"Reply with one JSON object and nothing else. Its JSON Schema: {schema.model_json_schema()}"
        dialogue = [*messages, ("user", form)]
        problem = ""
        for _ in range(self.config.retries + 1):
            reply = await self.text(dialogue)
            try:
                return schema.model_validate_json(strip_fence(reply))
            except ValidationError as error:
                problem = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:5])
                dialogue = [*dialogue, ("assistant", reply), ("user", f"That does not fit: {problem}. Reply again.")]
        raise ModelError(f"{self.name} gave no valid {schema.__name__} in {self.config.retries + 1} tries ({problem}).")

    async def turn(self, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]) -> Reply:
        """The next turn in a dialogue of OpenAI messages, with OpenAI function specs as `tools`.

        Calls whose arguments are no JSON object come back as problems. Raises `ModelError` as `text` does.
        """
        message: Any = await self._ask(list(messages), list(tools))
        written = (*message.tool_calls, *message.invalid_tool_calls)
        asked = [(call["id"], call["name"], call["args"]) for call in written]
        calls = [
            Asked(id or "", name or "", args)
            if isinstance(args, dict)
            else Asked(id or "", name or "", {}, f"its arguments are no JSON object: {args}")
            for id, name, args in asked
        ]
        return Reply(str(message.text), tuple(calls))

    async def _ask(self, messages: list[Any], tools: list[dict[str, Any]] | None = None) -> "BaseMessage":
        started = time.monotonic()
        # Broad, at the edge of the run: each provider's SDK has its own exceptions, and all mean "no answer".
        try:
            async with asyncio.timeout(self.config.timeout_s):
                message = await (self.chat.bind_tools(tools) if tools else self.chat).ainvoke(messages)
        except Exception as error:
            where = f" at {self.config.base_url}" if self.config.base_url else ""
            raise ModelError(
                f"The model {self.name}{where} did not answer ({type(error).__name__}: {first_line(error)}); "
                "check its address, name and key."
            ) from error
        finally:
            self.usage.calls += 1
            self.usage.seconds += time.monotonic() - started
        self.usage.add(message)
        return message


def open_model(config: ModelConfig) -> LangChainModel:
    """Connect to nothing yet: the first call does. Raises `UsageError` for an unknown provider or a missing key."""
    from langchain.chat_models import init_chat_model

    options: dict[str, Any] = {"temperature": config.temperature, "max_retries": config.retries}
    if config.base_url:
        options["base_url"] = config.base_url
    if config.api_key:
        options["api_key"] = config.api_key.get_secret_value()
    # Broad: a provider's constructor raises its own kinds (ImportError, OpenAIError, ValueError ...).
    try:
        chat = init_chat_model(config.name, **options)
    except Exception as error:
        raise UsageError(
            f"Cannot open the model {config.name!r} ({first_line(error)}); "
            "give provider:model, install the provider's package, and set its key."
        ) from error
    return LangChainModel(chat=chat, config=config)


def strip_fence(text: str) -> str:
    """The inside of one Markdown code fence, if the whole reply is one."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```") and "\n" in text:
        return text.split("\n", 1)[1].removesuffix("```").strip()
    return text


def first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__

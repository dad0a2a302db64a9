import { ASSERTION_TYPES, NOISES, TEST_LIMITS } from "@parley/shared/domain/tests";
import { Type } from "@sinclair/typebox";
import { AgentId } from "../resources.ts";
import { About, Json, Maybe, OneOf, strict, Text, Words } from "../types.ts";

export const Model = Type.Object(
  {
    provider_name: Text({
      min: 1,
      max: 100,
      description: "A language-model provider that GET /providers lists, or `CUSTOM_LLM`.",
      example: "OPENAI",
    }),
    model_name: Words({ max: 200, description: "A model of the provider.", example: "gpt-4.1-mini" }),
    params: Maybe(
      Type.Object(
        {
          temperature: Maybe(Type.Number({ minimum: 0, maximum: 2 }), "Sampling temperature. Default: 0."),
          base_url: Maybe(
            Text({ max: 2048 }),
            "`CUSTOM_LLM` only: the address of the agent's own `llm`, whose key is used.",
          ),
        },
        strict,
      ),
      "Parameters of the model.",
    ),
  },
  { ...strict, $id: "TestModel", description: "A language model." },
);

export const Message = Type.Union([
  Words({ max: TEST_LIMITS.message, description: "What the user says.", example: "Where is my order?" }),
  Type.Object(
    {
      text: Maybe(Text({ max: TEST_LIMITS.message }), "What the user says. Needed, except with `dtmf`."),
      noise: Maybe(OneOf(NOISES), "`voice`: what is heard behind the user."),
      interrupt_at_ms: Maybe(
        Type.Integer({ minimum: 0, maximum: 60_000 }),
        "`voice`: the user begins so long after the agent's last reply began to be heard, instead of after it.",
      ),
      dtmf: Maybe(
        Text({ pattern: "^[0-9*#w]{1,32}$", form: "be 1 to 32 of 0-9, *, # and w, a pause of half a second" }),
        "`voice`: keys that the user presses afterwards.",
      ),
    },
    { ...strict, $id: "TestLine", description: "What the user says in a call." },
  ),
]);

const ToolName = Text({
  min: 1,
  max: 200,
  description: "Name by which models call the tool; of an MCP server's, `<name>__<tool>`.",
  example: "look_up_order",
});

export const Mock = Type.Object(
  {
    tool: ToolName,
    when: Maybe(Json, "Arguments that a call must have for this answer; it may have others. Default: any."),
    delay_ms: Maybe(
      Type.Integer({ minimum: 0, maximum: TEST_LIMITS.delay }),
      "Milliseconds before the answer. Default: 0.",
    ),
    result: Type.Optional(
      Type.Unknown({ description: "The answer: any JSON. Of an HTTP tool, the body of its server's answer." }),
    ),
    recorded: Maybe(
      Type.Boolean(),
      "Whether `result` is what a model was told before, after an HTTP tool's filter, rather than its server's answer. Default: false.",
    ),
    error: Maybe(Words({ max: 4_000 }), "Why the call fails, in place of a result."),
  },
  { ...strict, $id: "ToolMock", description: "What a tool answers in the test. The first one that fits answers." },
);

export const Assertion = Type.Object(
  {
    type: OneOf(ASSERTION_TYPES, {
      description:
        "What is checked (docs/testing-agents.md#assertions); it decides which of the other fields are needed.",
    }),
    turn: Maybe(
      Type.Integer({ minimum: 1, maximum: TEST_LIMITS.turns }),
      "The turn that it is about: 1 is the user's first message and the reply to it. Default: the whole conversation.",
    ),
    value: Maybe(
      Text({ min: 1, max: 4_000, example: "on its way" }),
      "With `equals`, `contains` and `not_contains`: the text. With `matches`: a regular expression in RE2's syntax. With `ended_by`: `agent`, `user` or `system`. With `language`: a BCP 47 tag.",
    ),
    tool: Maybe(ToolName),
    arguments: Maybe(Json, "With `tool_called`: arguments that the call has, among others."),
    agent_id: Maybe(About(AgentId, "With `handed_off_to`: the agent that takes over.")),
    max: Maybe(
      Type.Integer({ minimum: 1, maximum: 600_000 }),
      "With `latency_ms`: the most milliseconds that a reply may take.",
    ),
    document: Maybe(
      Text({ min: 1, max: 500 }),
      "With `source_used`: ID or name of a document of the agent's knowledge bases.",
    ),
    field: Maybe(Text({ min: 1, max: 200 }), "With `analysis`: name of a field of the agent's analysis."),
    equals: Type.Optional(Type.Unknown({ description: "With `analysis`: the field's value, any JSON." })),
    criterion: Maybe(
      Words({ max: 4_000, example: "The agent does not promise a date of delivery." }),
      "With `judge`: what must be true. A model answers yes, no or unclear; unclear fails.",
    ),
    model: Maybe(Model, "With `judge`: who judges. Default: the agent's own model at temperature 0."),
  },
  { ...strict, $id: "TestAssertion", description: "What must be true after the conversation." },
);

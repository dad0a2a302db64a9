import { namesOf } from "@parley/shared/domain/api-names";
import { ON_TOOL_CHANGES, TOOL_INTERRUPTIONS, TOOL_METHODS, TOOL_RUNS, TOOL_TYPES } from "@parley/shared/domain/tools";
import { type Static, Type } from "@sinclair/typebox";
import { About, DateTimeText, DynamicVariables, Json, Maybe, OneOf, PageQuery, Text, Words } from "../types.ts";
import { Assignment, Auth, Headers, Parameter, Result, Speech } from "./parts.ts";

export const ToolTypeName = OneOf(namesOf(TOOL_TYPES), {
  description:
    "`http`: a request to a server of yours. `client`: your page or app makes the call. `mcp`: the tools of an MCP server.",
});

const Name = Text({
  pattern: "^[a-zA-Z][a-zA-Z0-9_]{0,63}$",
  form: "begin with a letter and have at most 64 letters, digits and underscores",
  description: "Name by which models call the tool, unique among your tools and not that of a built-in one.",
  example: "look_up_order",
});
const Description = Words({
  max: 2_000,
  description: "What the model reads to decide when to call the tool.",
  example: "Looks up an order by its number.",
});

/** The fields beside name, description and type. */
export const toolFields = {
  method: Maybe(OneOf(namesOf(TOOL_METHODS)), "HTTP tools: method of the request."),
  url: Maybe(
    Text({ min: 1, max: 2048, example: "https://api.shop.example/orders/{order_id}" }),
    "HTTP and MCP tools: address, which begins with https://. For HTTP tools it may have `{path parameters}`, and `{{variables}}` after the host.",
  ),
  headers: Maybe(Headers, "HTTP and MCP tools: headers of the request."),
  auth: Maybe(Auth, "HTTP and MCP tools: how requests are authenticated. Default: not at all."),
  parameters: Maybe(Type.Array(Parameter, { maxItems: 64 }), "HTTP and client tools: parameters of a call."),
  retries: Maybe(
    Type.Integer({ minimum: 0, maximum: 3 }),
    "HTTP tools: how often a request is repeated after 429, 502, 503, 504 or a failed connection. Default: 2 for GET and HEAD, else 0.",
  ),
  idempotent: Maybe(
    Type.Boolean(),
    "HTTP tools: whether the server honors `Idempotency-Key`, so that a call may be repeated after a crash. Default: false.",
  ),
  result: Maybe(Result, "HTTP tools: what the model sees of the answer. Default: everything."),
  assignments: Maybe(
    Type.Array(Assignment, { maxItems: 50 }),
    "HTTP tools: values of the answer that dynamic variables take.",
  ),
  wait: Maybe(Type.Boolean(), "Client tools: whether the model waits for the client's result. Default: true."),
  tools: Maybe(
    Type.Array(Text({ min: 1, max: 200 }), { maxItems: 200 }),
    "MCP tools: names of the server's tools that are allowed. Default: all.",
  ),
  on_change: Maybe(
    OneOf(namesOf(ON_TOOL_CHANGES)),
    "MCP tools: which change of a server's tool switches it off until you accept it: another schema, or any. Default: `keep_if_schema_same`.",
  ),
  timeout_ms: Maybe(
    Type.Integer({ minimum: 1_000, maximum: 120_000 }),
    "Milliseconds that a call may take with all its retries. Default: 20000.",
  ),
  speech: Maybe(Speech, "What a caller hears while the tool runs."),
  interruption: Maybe(
    OneOf(namesOf(TOOL_INTERRUPTIONS)),
    "What becomes of a running call when the caller speaks. Default: `continue`.",
  ),
  run: Maybe(
    OneOf(namesOf(TOOL_RUNS)),
    "Whether the conversation waits for the result, or goes on in the meantime. Default: `wait`.",
  ),
};

export const CreateToolBody = Type.Object(
  { name: Name, description: Description, type: ToolTypeName, ...toolFields },
  { $id: "CreateToolRequest", description: "A tool. Fields that you leave out have their default." },
);
export type CreateToolBody = Static<typeof CreateToolBody>;

export const UpdateToolBody = Type.Object(
  {
    name: Type.Optional(Name),
    description: Type.Optional(Description),
    type: Type.Optional(About(ToolTypeName, "The tool's type, which cannot change.")),
    ...toolFields,
  },
  {
    $id: "UpdateToolRequest",
    description: "The fields to change. Those that you leave out stay as they are; null restores a default.",
  },
);
export type UpdateToolBody = Static<typeof UpdateToolBody>;

export const UpdateToolQuery = Type.Object({
  if_updated_at: Type.Optional(
    About(
      DateTimeText,
      "The `updated_at` of the tool that the change is based on. If the tool has changed since, the request is refused with 409.",
    ),
  ),
});

export const ImportToolsBody = Type.Object(
  {
    url: Maybe(
      Text({ min: 1, max: 2048, example: "https://api.shop.example/openapi.json" }),
      "Address of an OpenAPI document of at most 4 MiB.",
    ),
    document: Maybe(
      Text({ min: 1, max: 4 * 1024 * 1024 }),
      "An OpenAPI document of version 3.0 or 3.1, as JSON or YAML.",
    ),
    curl: Maybe(
      Text({ min: 1, max: 64 * 1024, example: "curl https://api.shop.example/orders/A-1001" }),
      "A curl command.",
    ),
  },
  { $id: "ImportToolsRequest", description: "What to make tools of: one of the fields." },
);
export type ImportToolsBody = Static<typeof ImportToolsBody>;

export const TryToolBody = Type.Object(
  {
    arguments: Maybe(Json, "Arguments, as the model would give them."),
    variables: About(DynamicVariables, "Values of dynamic and system variables by name."),
    tool: Maybe(Text({ min: 1, max: 200 }), "MCP tools: name of the server's tool."),
  },
  { $id: "TryToolRequest", description: "What a conversation would give the tool." },
);

export const ListToolsQuery = Type.Object({
  ...PageQuery,
  search: Type.Optional(
    Text({ max: 200, description: "Part of the name or description, in any case.", example: "order" }),
  ),
  type: Type.Optional(About(ToolTypeName, "Only tools of this type.")),
});

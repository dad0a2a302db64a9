import { namesOf } from "@parley/shared/domain/api-names";
import { MCP_STATES, ON_TOOL_CHANGES, TOOL_INTERRUPTIONS, TOOL_METHODS, TOOL_RUNS } from "@parley/shared/domain/tools";
import { Type } from "@sinclair/typebox";
import { At, Id, Message, PageFigures, Resource } from "../resources.ts";
import { About, Json, Nullable, OneOf } from "../types.ts";
import { Assignment, Auth, Headers, Parameter, Result, Speech } from "./parts.ts";
import { ToolTypeName } from "./requests.ts";

const ToolId = Id("ID of the tool.", "tol_01m7yyhwr5h8k2n6q0t3w7y1a4");
const ToolName = Type.String({ description: "Name by which models call the tool.", examples: ["look_up_order"] });
const SigningSecret = Type.String({
  description: "Secret that signs the tool's requests (Standard Webhooks), which is not shown again.",
  examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="],
});

const toolFields = {
  id: ToolId,
  name: ToolName,
  description: Type.String({ description: "What the model reads to decide when to call the tool." }),
  type: ToolTypeName,
  method: Type.Optional(OneOf(namesOf(TOOL_METHODS), { description: "HTTP tools: method of the request." })),
  url: Type.Optional(Type.String({ description: "HTTP and MCP tools: address." })),
  headers: Type.Optional(About(Headers, "HTTP and MCP tools: headers of the request.")),
  auth: Type.Optional(Nullable(Auth, "HTTP and MCP tools: how requests are authenticated.")),
  parameters: Type.Optional(Type.Array(Parameter, { description: "HTTP and client tools: parameters of a call." })),
  retries: Type.Optional(Type.Integer({ description: "HTTP tools: how often a request is repeated." })),
  idempotent: Type.Optional(Type.Boolean({ description: "HTTP tools: whether a call may be repeated after a crash." })),
  result: Type.Optional(Nullable(Result, "HTTP tools: what the model sees of the answer; null for everything.")),
  assignments: Type.Optional(
    Type.Array(Assignment, { description: "HTTP tools: values of the answer that variables take." }),
  ),
  wait: Type.Optional(Type.Boolean({ description: "Client tools: whether the model waits for the client's result." })),
  tools: Type.Optional(
    Nullable(Type.Array(Type.String()), "MCP tools: names of the server's tools that are allowed; null for all."),
  ),
  on_change: Type.Optional(
    OneOf(namesOf(ON_TOOL_CHANGES), { description: "MCP tools: which change switches a server's tool off." }),
  ),
  mcp_tools: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String({ description: "Name at the server." }),
        description: Type.String({ description: "Description, as accepted." }),
        input_schema: About(Json, "JSON Schema of the arguments, as accepted."),
        state: OneOf(namesOf(MCP_STATES), {
          description: "Whether models can call it. One that the server changed or added is off until you accept it.",
        }),
      }),
      { description: "MCP tools: the server's tools." },
    ),
  ),
  problems: Type.Optional(
    Type.Array(
      Type.Object({
        name: Type.String({ description: "Name at the server." }),
        problem: Type.String({ description: "Why the tool is left out." }),
      }),
      { description: "MCP tools: tools of the server that are left out." },
    ),
  ),
  timeout_ms: Type.Integer({ description: "Milliseconds that a call may take with all its retries." }),
  speech: About(Speech, "What a caller hears while the tool runs."),
  interruption: OneOf(namesOf(TOOL_INTERRUPTIONS), {
    description: "What becomes of a running call when the caller speaks.",
  }),
  run: OneOf(namesOf(TOOL_RUNS), { description: "Whether the conversation waits for the result." }),
  created_at: At("When the tool was created."),
  updated_at: At("When the tool was last changed."),
  created_by: Nullable(
    Type.String({ examples: ["key:key_01m7yyhwdaf1m8q3s6v0x2y4z7"] }),
    "Who created the tool: an API key or a session.",
  ),
};

export const Tool = Resource("Tool", toolFields, "A tool of the library.");

export const NewTool = Resource(
  "NewTool",
  {
    ...toolFields,
    signing_secret: Type.Optional(
      About(SigningSecret, "HTTP tools: secret that signs the requests, which is not shown again."),
    ),
  },
  "A tool that was created.",
);

export const RotatedTool = Resource(
  "RotatedTool",
  {
    ...toolFields,
    signing_secret: SigningSecret,
    old_secret_valid_until: At("Until when requests are also signed with the secret from before."),
  },
  "A tool with a new signing secret.",
);

export const TriedTool = Resource(
  "TriedTool",
  {
    request: Nullable(
      Type.Object({
        method: Type.String({ description: "Method." }),
        url: Type.String({ description: "Address." }),
        headers: Type.Record(Type.String(), Type.String(), { description: "Headers by name." }),
        body: Nullable(Type.String(), "Body, if there was one."),
      }),
      "The request that was made last, with secrets masked; null if none was made.",
    ),
    status: Nullable(Type.Integer(), "Status of the answer; null without one."),
    answer: Nullable(Type.String(), "Body of the answer, at most 256 KiB; null without one."),
    duration_ms: Type.Integer({ description: "Milliseconds that the call took with all its retries." }),
    for_model: Type.String({ description: "What the model would be told." }),
    is_error: Type.Boolean({ description: "Whether the model would be told so as an error." }),
    assignments: About(Json, "Values that dynamic variables would take, by name."),
  },
  "What came of trying a tool.",
);

const ImportedTool = Resource(
  "ImportedTool",
  {
    name: ToolName,
    description: Type.String({ description: "What the model reads to decide when to call the tool." }),
    type: OneOf(["http"], { description: "The type of the tool." }),
    method: OneOf(namesOf(TOOL_METHODS), { description: "Method of the request." }),
    url: Type.String({ description: "Address, with its `{path parameters}`." }),
    headers: About(Headers, "Headers of the request."),
    auth: Nullable(Auth, "How requests are authenticated, with a secret that must exist before."),
    parameters: Type.Array(Parameter, { description: "Parameters of a call." }),
  },
  "A tool that is not stored: a body for `POST /tools`.",
);

export const ImportedTools = Resource(
  "ImportedTools",
  {
    tools: Type.Array(ImportedTool, { description: "A tool for each operation that can be one." }),
    problems: Type.Array(
      Type.Object({
        operation: Type.String({ description: "Method and path, or `curl`.", examples: ["POST /orders"] }),
        problem: Type.String({ description: "Why it is no tool, or what its tool lacks." }),
      }),
      { description: "What cannot be used." },
    ),
  },
  "Tools made of an OpenAPI document or a curl command.",
);

export const ToolList = Resource("ToolList", {
  tools: Type.Array(Tool, { description: "Tools of the page, newest first." }),
  ...PageFigures,
});

export const ToolDeleted = Resource("ToolDeleted", {
  message: Message,
  tool_id: ToolId,
  name: ToolName,
  deleted_at: At("When the tool was deleted."),
});

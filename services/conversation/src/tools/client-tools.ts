import type { ClientTool, Tool as LibraryTool } from "@parley/proto/parley/agent/v1/tool.ts";
import { definitionOf, refusedArgument, rulesOf } from "./custom-tool.ts";
import { parameterValue, Refused } from "./http/values.ts";
import { type ClientRules, failed, type Tool } from "./tool.ts";
import type { ToolSource } from "./toolbox.ts";

/** The tools of the owner's library whose calls the customer's own page or app makes. */
export const clientTools: ToolSource = (agent) =>
  agent.customTools.flatMap((tool) => (tool.kind?.$case === "client" ? [clientTool(tool, tool.kind.value)] : []));

/** It is offered on every channel: a conversation that begins with a client may go on without one. */
export function clientTool(tool: LibraryTool, client: ClientTool): Tool {
  return {
    kind: "client",
    definition: definitionOf(tool, client.parameters),
    rules: rulesOf(tool, false),
    client: { wait: client.wait ?? true, argumentsOf: (input, variables) => argumentsOf(client, input, variables) },
    run: () => failed("not available on this channel"),
    answered: ({ input }, { variables }, { text }) => {
      const refused = refusedArgument(client.parameters, input ?? {}, variables);
      return refused === null ? { result: text, isError: false } : failed(refused);
    },
  };
}

function argumentsOf({ parameters }: ClientTool, ...[args, variables]: Parameters<ClientRules["argumentsOf"]>) {
  const refused = refusedArgument(parameters, args, variables);
  if (refused !== null) return refused;
  try {
    const sources = { args, variables, secrets: new Map() };
    const values = parameters.map((parameter) => [parameter.name, parameterValue(parameter, sources)]);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  } catch (error) {
    if (error instanceof Refused) return error.message;
    throw error;
  }
}

import type { ClientTool, Tool } from "@parley/proto/parley/agent/v1/tool.ts";
import { BUILT_IN_TOOLS } from "@parley/shared/domain/tools";
import type { AllowList } from "@parley/shared/egress/allow-list";
import { invalid } from "@parley/shared/errors";
import { checkHttp } from "./check-http.ts";
import { checkMcp } from "./check-mcp.ts";
import { checkOnce, checkParameters } from "./check-parameters.ts";

const NAME = /^[a-zA-Z][a-zA-Z0-9_]{0,63}$/;

/**
 * Checks what a tool says by itself; what it refers to is checked where it is stored.
 * @throws ServiceError invalid at the first rule that it breaks
 */
export function checkTool(tool: Pick<Tool, "name" | "speech" | "kind">, allowedHosts: AllowList): void {
  if (!NAME.test(tool.name))
    throw invalid("name", "name must begin with a letter and have at most 64 letters, digits and underscores");
  if ((BUILT_IN_TOOLS as readonly string[]).includes(tool.name))
    throw invalid("name", `name must not be ${tool.name}, which is a built-in tool`);
  checkSpeech(tool.speech);
  switch (tool.kind?.$case) {
    case "http":
      checkHttp(tool.kind.value, allowedHosts);
      break;
    case "client":
      checkClient(tool.kind.value);
      break;
    case "mcp":
      checkMcp(tool.kind.value, allowedHosts);
      break;
    default:
      throw invalid("type", "type is required");
  }
}

function checkSpeech(speech: Tool["speech"]): void {
  for (const [at, { afterMs }] of speech?.delayed.entries() ?? []) {
    const before = speech?.delayed[at - 1];
    if (!before || before.afterMs < afterMs) continue;
    const path = `speech.delayed.${at}.after_ms`;
    throw invalid(path, `${path} must be more than ${before.afterMs}: order the lines by time`);
  }
}

/** The customer's page makes the call, so it has no place in a request and no secret. */
function checkClient({ parameters }: ClientTool): void {
  for (const [at, parameter] of parameters.entries()) {
    const path = `parameters.${at}`;
    if (parameter.in !== 0) throw invalid(`${path}.in`, `${path}.in is for HTTP tools only: leave it out`);
    if (parameter.source?.$case === "secret")
      throw invalid(`${path}.secret`, `${path}.secret is not possible: secrets do not go to clients`);
  }
  checkOnce(parameters, (parameter) => parameter.name);
  checkParameters(parameters);
}

import { HttpTool, Tool, type ToolMethod } from "@parley/proto/parley/agent/v1/tool.ts";
import type { AllowList } from "@parley/shared/egress/allow-list";
import { ServiceError } from "@parley/shared/errors";
import { checkTool } from "../check-tool.ts";
import { Unusable } from "./unusable.ts";

/** What became of a document or a command: tools as they can be created, and what could not be used. */
export interface Imported {
  tools: Tool[];
  problems: Problem[];
}

export interface Problem {
  /** Method and path. */
  operation: string;
  problem: string;
}

export const DESCRIPTION_MAX = 2_000;
export const URL_MAX = 2_048;
export const TOO_LONG = `Its address has more than ${URL_MAX} characters`;
export const PARAMETERS_MAX = 64;

/** A tool that can be created, apart from its secrets. @throws Unusable */
export function toolFrom(
  name: string,
  description: string,
  http: Partial<HttpTool> & { method: ToolMethod; url: string },
  allowedHosts: AllowList,
): Tool {
  if (http.url.length > URL_MAX) throw new Unusable(TOO_LONG);
  const shortened = Array.from(
    description
      .slice(0, 2 * DESCRIPTION_MAX)
      .replaceAll(/[^\P{Cc}\n]/gu, " ")
      .trim(),
  )
    .slice(0, DESCRIPTION_MAX)
    .join("");
  const tool: Tool = {
    ...Tool.fromPartial({ name, description: shortened }),
    kind: { $case: "http", value: { ...HttpTool.fromPartial({}), ...http } },
  };
  try {
    checkTool(tool, allowedHosts);
    return tool;
  } catch (error) {
    if (error instanceof ServiceError) throw new Unusable(error.detail);
    throw error;
  }
}

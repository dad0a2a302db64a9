import type { ToolNews } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { ToolCall } from "../model/port.ts";
import type { ToolOutcome } from "./tool.ts";

/** What is told of the tool calls of a turn, each call before its result. */
export type ToolEvent =
  | { type: "called"; toolCallId: string; name: string; arguments: string }
  | { type: "answered"; toolCallId: string; result: string; isError: boolean };

/** Learns of every call, and of the results that the model is told in the same turn. */
export interface ToolTeller {
  called(toolCallId: string, name: string, json: string): void;
  answered(toolCallId: string, outcome: Pick<ToolOutcome, "result" | "isError">): void;
}

export function tellerOf(tell: (event: ToolEvent) => unknown): ToolTeller {
  return {
    called: (toolCallId, name, json) => void tell({ type: "called", toolCallId, name, arguments: json }),
    answered: (toolCallId, { result, isError }) => void tell({ type: "answered", toolCallId, result, isError }),
  };
}

export function toNews(event: ToolEvent): Omit<ToolNews, "offset"> {
  const { toolCallId, type } = event;
  if (type === "called")
    return { toolCallId, event: { $case: "called", value: { name: event.name, arguments: event.arguments } } };
  return { toolCallId, event: { $case: "answered", value: { result: event.result, isError: event.isError } } };
}

/** Calls that were over at once, which are told when the words before them have been. */
interface ToldLater {
  add(toolCallId: string, call: ToolCall, outcome: ToolOutcome): void;
  isEmpty(): boolean;
  tell(): void;
}

export function toldLater(teller: ToolTeller | undefined): ToldLater {
  const over: { toolCallId: string; call: ToolCall; outcome: ToolOutcome }[] = [];
  return {
    add: (toolCallId, call, outcome) => {
      if (teller) over.push({ toolCallId, call, outcome });
    },
    isEmpty: () => over.length === 0,
    tell: () => {
      for (const { toolCallId, call, outcome } of over.splice(0)) {
        teller?.called(toolCallId, call.name, JSON.stringify(call.input ?? {}));
        teller?.answered(toolCallId, outcome);
      }
    },
  };
}

/**
 * The events that a destination can ask for, with what happened, and under which key of the payload the object stands that it
 * happened to. The first three are the payload themselves (docs/webhooks.md).
 */
export const EVENTS = {
  "conversation.completed": { what: "The conversation finished successfully.", key: null },
  "conversation.disconnected": { what: "The conversation ended early, or the called user did not answer.", key: null },
  "conversation.failed": { what: "The conversation ended in a failure.", key: null },
  "conversation.started": { what: "A conversation began.", key: "conversation" },
  "conversation.analyzed": {
    what: "A conversation got an analysis after its end was told, because the analysis was late or made again.",
    key: "conversation",
  },
  "recording.ready": { what: "The recording of a call can be fetched.", key: "recording" },
  "recording.failed": { what: "A call is not recorded, or only in part.", key: "recording" },
  "transfer.completed": { what: "The user of a call was connected to somebody else.", key: "transfer" },
  "transfer.failed": { what: "The user of a call could not be connected to somebody else.", key: "transfer" },
  "tool.failed": { what: "A call of an agent's tool failed, after its retries.", key: "tool" },
  "tool.changed": { what: "An MCP server offers other tools than before.", key: "tool" },
  "message.failed": { what: "A message could not be delivered over WhatsApp.", key: "message" },
  "alert.opened": { what: "The condition of an alert is met.", key: "alert" },
  "alert.resolved": { what: "The condition of an open alert is no longer met.", key: "alert" },
} as const satisfies Record<string, { what: string; key: string | null }>;

export type EventName = keyof typeof EVENTS;

/** All names, in the order to show them. */
export const EVENT_NAMES = Object.keys(EVENTS) as EventName[];

/** What a destination gets that names no events. */
export const DEFAULT_EVENTS = [
  "conversation.completed",
  "conversation.disconnected",
  "conversation.failed",
] as const satisfies EventName[];

export function isEventName(name: string): name is EventName {
  return Object.hasOwn(EVENTS, name);
}

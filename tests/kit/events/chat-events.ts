/** A server-sent event of a chat reply. */
export interface ChatEvent {
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests assert on it field by field
  data: any;
}

/** The events of a response as they arrive. Each has one line of data. */
export async function* chatEvents(response: Response): AsyncGenerator<ChatEvent> {
  let rest = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    const blocks = (rest + decoder.decode(bytes, { stream: true })).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const [, event = "", data = ""] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      yield { event, data: JSON.parse(data) };
    }
  }
  if (rest !== "") throw new Error(`The stream ends within an event: ${rest}`);
}

export async function allEvents(response: Response): Promise<ChatEvent[]> {
  return Array.fromAsync(chatEvents(response));
}

/** The events with the words of neighbouring `text` events joined. */
export function joined(events: readonly ChatEvent[]): ChatEvent[] {
  const all: ChatEvent[] = [];
  for (const { event, data } of events) {
    const last = all.at(-1);
    if (event === "text" && last?.event === "text") last.data = { text: last.data.text + data.text };
    else all.push({ event, data });
  }
  return all;
}

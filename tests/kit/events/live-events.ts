export interface LiveEvent {
  id: string;
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests assert on it field by field
  data: any;
}

/** A watcher over HTTP. */
export interface LiveWatcher {
  status: number;
  /** The next event with this name; those before it are left out. */
  next(event: string): Promise<LiveEvent>;
  /** The rest of the events, to the end of the stream. */
  rest(): Promise<LiveEvent[]>;
  /** The newest id. */
  lastId(): string;
  leave(): void;
}

/** @param path below `/v1/public` */
export async function watchEvents(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<LiveWatcher> {
  const gone = new AbortController();
  const response = await fetch(`${url}/v1/public${path}`, { headers, signal: gone.signal });
  const events = eventsOf(response);
  let lastId = "";
  const read = async () => {
    const { value } = await events.next();
    if (value && value.id !== "") lastId = value.id;
    return value ?? null;
  };
  return {
    status: response.status,
    next: async (wanted) => {
      for (let event = await read(); event; event = await read()) if (event.event === wanted) return event;
      throw new Error(`The stream ended without ${wanted}`);
    },
    rest: async () => {
      const rest: LiveEvent[] = [];
      for (let event = await read(); event; event = await read()) rest.push(event);
      return rest;
    },
    lastId: () => lastId,
    leave: () => gone.abort(),
  };
}

/** Comments are left out. */
async function* eventsOf(response: Response): AsyncGenerator<LiveEvent, undefined> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    const blocks = (text + decoder.decode(bytes, { stream: true })).split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split("\n").map((line) => line.split(/: (.*)/s, 2)));
      if (fields.id !== undefined || fields.event !== undefined)
        yield { id: fields.id ?? "", event: fields.event ?? "", data: JSON.parse(fields.data ?? "null") };
    }
  }
  return undefined;
}

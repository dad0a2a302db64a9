/** A server that stands in for someone else's. */
export interface StandIn {
  /** Its origin. */
  url: string;
  stop(): Promise<void>;
}

/**
 * Runs a stand-in as a process until a signal stops it. It listens on PORT, 0 for any that is free, and prints its address; if the port
 * is taken, it prints that and exits with 1.
 * @param start throws when the port is taken
 */
export async function serveStandIn(portDefault: number, start: Start): Promise<void> {
  const port = readNumber("PORT", portDefault, 65_535);
  const standIn = await started(port, start);
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.once(signal, () => void standIn.stop().then(() => process.exit(0)));
  }
  console.log(JSON.stringify({ level: "info", msg: "listening", address: new URL(standIn.url).host }));
}

type Start = (port: number) => StandIn | Promise<StandIn>;

async function started(port: number, start: Start): Promise<StandIn> {
  try {
    return await start(port);
  } catch (error) {
    return refuse(`port ${port} is not free (${error}); set PORT to another, or to 0 for any`);
  }
}

/** Answers a request that controls a stand-in. What the caller got wrong is answered with 400 and a sentence. */
export async function controlled<B = Record<string, unknown>>(
  request: Request,
  work: (body: B) => object | Promise<object>,
): Promise<Response> {
  try {
    const text = await request.text();
    return Response.json(await work(text === "" ? {} : JSON.parse(text)));
  } catch (error) {
    return Response.json({ detail: error instanceof Error ? error.message : String(error) }, { status: 400 });
  }
}

/** Reads a whole number from the environment. Prints what is wrong with it and exits with 1, if it is not one from 0 to `max`. */
export function readNumber(name: string, absent: number, max: number): number {
  const text = process.env[name] ?? String(absent);
  if (/^\d{1,9}$/.test(text) && Number(text) <= max) return Number(text);
  return refuse(`${name} must be a whole number from 0 to ${max}; it is "${text}"`);
}

function refuse(error: string): never {
  console.log(JSON.stringify({ level: "error", msg: "not started", error }));
  process.exit(1);
}

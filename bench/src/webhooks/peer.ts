/**
 * The other contenders, in a process of their own like the dispatcher: (a) sends its events in a bare loop, (b) works off a
 * BullMQ queue. The control port accepts the loop's job and responds when it is done.
 */
import { Worker } from "bullmq";
import { type Sample, sample } from "./event.ts";
import { createSend } from "./send.ts";

export interface LoopJob {
  urls: string[];
  events: number;
  atOnce: number;
}

/** A job of the queue. */
export interface QueuedDelivery {
  url: string;
  sample: Sample;
}

export const QUEUE = "deliveries";

async function loop({ urls, events, atOnce }: LoopJob): Promise<void> {
  const send = createSend();
  let next = 0;
  const work = async () => {
    for (let at = next++; at < events * urls.length; at = next++) {
      await send(urls[at % urls.length] ?? "", sample(`loop_${Math.floor(at / urls.length)}`));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

if (import.meta.main) {
  const send = createSend();
  const redis = { host: "127.0.0.1", port: Number(process.env.BENCH_REDIS_PORT), maxRetriesPerRequest: null };
  new Worker<QueuedDelivery>(QUEUE, ({ data }) => send(data.url, data.sample), {
    connection: redis,
    concurrency: Number(process.env.BENCH_AT_ONCE),
    removeOnComplete: { count: 0 },
  });
  Bun.serve({
    hostname: "127.0.0.1",
    port: Number(process.env.PORT),
    idleTimeout: 0,
    fetch: async (request) => {
      await loop((await request.json()) as LoopJob);
      return new Response("done");
    },
  });
}

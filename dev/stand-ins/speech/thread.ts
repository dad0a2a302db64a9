/** A thread that answers one question after another. */
interface Thread<Question, Answer> {
  /**
   * Asks a question after the earlier ones, unless the signal has been aborted by then.
   * @throws what the thread threw, that it died, or the signal's reason
   */
  ask(question: Question, signal?: AbortSignal): Promise<Answer>;
  /** Questions without an answer. */
  waiting(): number;
  close(): void;
}

type Told<Answer> = { answer: Answer } | { error: string };

interface Asked<Question, Answer> extends PromiseWithResolvers<Answer> {
  question: Question;
  signal: AbortSignal | undefined;
}

/** Starts the thread with the first question, and again with the next one if it died. */
export function openThread<Question, Answer>(script: URL): Thread<Question, Answer> {
  let worker: Worker | null = null;
  let current: Asked<Question, Answer> | null = null;
  const queue: Asked<Question, Answer>[] = [];

  const next = () => {
    current = queue.shift() ?? null;
    if (current?.signal?.aborted) {
      current.reject(current.signal.reason);
      return next();
    }
    if (!current) return;
    worker ??= start();
    worker.postMessage(current.question);
  };
  const start = () => {
    const started = new Worker(script);
    started.onmessage = ({ data }: MessageEvent<Told<Answer>>) => {
      if ("error" in data) current?.reject(new Error(data.error));
      else current?.resolve(data.answer);
      next();
    };
    started.onerror = ({ message }) => {
      worker = null;
      current?.reject(new Error(message));
      next();
    };
    return started;
  };

  return {
    ask: (question, signal) => {
      const asked = { ...Promise.withResolvers<Answer>(), question, signal };
      queue.push(asked);
      if (!current) next();
      return asked.promise;
    },
    waiting: () => queue.length + (current ? 1 : 0),
    close: () => worker?.terminate(),
  };
}

declare const self: Worker;

/** The thread's own side: answers each message with what `answer` returns or throws. */
export function answerAll<Question, Answer>(answer: (question: Question) => Answer | Promise<Answer>): void {
  let last: Promise<void> = Promise.resolve();
  self.onmessage = ({ data }: MessageEvent<Question>) => {
    last = last.then(async () => {
      const told: Told<Answer> = await Promise.try(() => answer(data)).then(
        (value) => ({ answer: value }),
        (error: Error) => ({ error: error.message }),
      );
      self.postMessage(told);
    });
  };
}

import { WatchConversationsResponse } from "@parley/proto/parley/conversation/v1/live.ts";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { listenForNotifications } from "@parley/shared/db/notifications";
import type { Sweep } from "@parley/shared/jobs/sweeps";
import type { Logger } from "@parley/shared/log";
import { repeat } from "@parley/shared/process/repeat";
import { meter } from "@parley/shared/telemetry/instruments";
import {
  deleteOldEvents,
  LIVE,
  listEventsAfter,
  listWordTopics,
  type Telling,
  type Topic,
  tellWords,
  type Watching,
} from "../store/live.ts";
import type { SessionKey } from "../store/session-key.ts";
import { createMailbox, type Mailbox } from "./mailbox.ts";
import { toldEvents } from "./told-events.ts";

/** What the processes of this service tell watchers of conversations. What happens in any of them reaches watchers of each. */
export interface Live {
  /** Whether somebody wants the words of messages that are not whole yet. */
  wantsWords(key: SessionKey): boolean;
  /** Tells what no table has. Never rejects. @returns whether somebody still wants it */
  tell(key: SessionKey, events: readonly Telling[]): Promise<boolean>;
  /** Follows a topic: what is told behind `position` is put into the mailbox. */
  follow(topic: Topic, follower: Follower): { mailbox: Mailbox; position: number; leave(): void };
  /**
   * Calls `stop` if an operator has the reply in progress stopped, also if that was after `begunAt`, in `performance.now()` time.
   * @returns ends that
   */
  onStop(key: SessionKey, begunAt: number, stop: () => void): () => void;
  /** How long a watcher of this moment may be told, or come back. */
  watching(withWords: boolean): Watching;
}

export interface LiveFeature extends Live {
  sweeps: readonly Sweep[];
  endStreams(): Promise<void>;
  stop(): Promise<void>;
}

interface Follower {
  withWords: boolean;
  /** The newest event that it knows. */
  after: number;
  /** Has the topic tell for longer. */
  renew(): Promise<unknown>;
}

interface Followed {
  topic: Topic;
  /** The newest event that was put into the mailboxes. */
  position: number;
  mailboxes: Map<Mailbox, Follower>;
  isDue: boolean;
  reading: Promise<void> | null;
}

/** How long a watcher that was cut off may go on without a gap. */
const KEPT_MS = 600_000;
const RENEW_MS = 60_000;
const RETRY_MS = 1_000;
/** Events that are read at once. */
export const BATCH = 100;
const SWEEP_MS = 60_000;

interface LiveOptions {
  db: Database;
  /** A connection that receives notifications. */
  direct: Database;
  clock: Clock;
  log: Logger;
}

export function createLive({ db, direct, clock, log }: LiveOptions): LiveFeature {
  const followed = new Map<string, Followed>();
  /** Until when words are wanted, in epoch milliseconds. */
  const words = new Map<string, number>();
  const stoppable = new Map<string, () => void>();
  /** When replies were stopped lately, in `performance.now()` time: one may be stopped before it is known here. */
  const stopped = new Map<string, number>();

  const notifications = listenForNotifications({
    db,
    direct,
    channel: LIVE,
    retryMs: RETRY_MS,
    heard: (text) => {
      const [what, ownerId = "", conversationId = "", until] = text.split(" ");
      const name = nameOf({ ownerId, conversationId });
      if (what === "words") words.set(name, Number(until));
      if (what === "stop") {
        stopped.set(name, performance.now());
        stoppable.get(name)?.();
      }
      const each = followed.get(name);
      if (what === "told" && each) read(each);
    },
    onGap: () => void catchUp(),
    onAway: (err) => log.warn({ err }, "watchers are told nothing while the database is unreachable"),
  });
  const renewing = repeat(renew, RENEW_MS, (err) => log.warn({ err }, "watched conversations could not be renewed"));

  async function catchUp(): Promise<void> {
    for (const each of followed.values()) read(each);
    const wanted = await listWordTopics(db, clock.now()).catch(() => []);
    for (const { wordsUntil, ...key } of wanted) words.set(nameOf(key), wordsUntil.getTime());
  }

  async function renew(): Promise<void> {
    const now = clock.now().getTime();
    for (const [name, at] of stopped) if (performance.now() - at > RENEW_MS) stopped.delete(name);
    for (const [name, until] of words) if (until <= now) words.delete(name);
    for (const each of followed.values()) {
      const followers = [...each.mailboxes.values()];
      await (followers.find(({ withWords }) => withWords) ?? followers[0])?.renew();
      read(each);
    }
  }

  /** Puts what was told since into the mailboxes, in order. */
  function read(each: Followed): void {
    each.isDue = true;
    each.reading ??= readAll(each).finally(() => {
      each.reading = null;
    });
  }

  async function readAll(each: Followed): Promise<void> {
    while (each.isDue && each.mailboxes.size > 0) {
      each.isDue = false;
      try {
        const rows = await listEventsAfter(db, each.topic, each.position, BATCH);
        // Forgotten in between: those who watch ask again, and begin with a snapshot.
        if (rows === null) return end(each);
        const events = await toldEvents(db, each.topic, rows);
        for (const event of events) put(each, event);
        each.position += rows.length;
        each.isDue ||= rows.length === BATCH;
      } catch (err) {
        log.warn({ err }, "what happened in a conversation could not be read for its watchers");
        for (const mailbox of each.mailboxes.keys()) mailbox.close();
      }
    }
  }

  function put({ mailboxes }: Followed, event: WatchConversationsResponse): void {
    const bytes = bytesOf(event);
    for (const [mailbox, { withWords, after }] of mailboxes)
      if (Number(event.id) > after && (withWords || !isOfWords(event))) mailbox.put(event, bytes);
  }

  function end({ mailboxes }: Followed): void {
    for (const mailbox of mailboxes.keys()) mailbox.close();
  }

  const watchers = meter().createObservableGauge("parley.live.watchers", {
    description: "Watchers of conversations",
  });
  const observe = (result: { observe(value: number): void }) => {
    let count = 0;
    for (const { mailboxes } of followed.values()) count += mailboxes.size;
    result.observe(count);
  };
  watchers.addCallback(observe);

  return {
    wantsWords: (key) => words.size > 0 && (words.get(nameOf(key)) ?? 0) > clock.now().getTime(),
    tell: async (key, events) => {
      try {
        if (await tellWords(db, key, events, clock.now())) return true;
        words.delete(nameOf(key));
        return false;
      } catch (err) {
        log.warn({ err }, "watchers could not be told of words");
        return true;
      }
    },
    follow(topic, follower) {
      const name = nameOf(topic);
      const each = followed.get(name) ?? {
        topic,
        position: follower.after,
        mailboxes: new Map(),
        isDue: false,
        reading: null,
      };
      followed.set(name, each);
      const mailbox = createMailbox();
      each.mailboxes.set(mailbox, follower);
      read(each);
      return {
        mailbox,
        position: each.position,
        leave() {
          mailbox.close();
          each.mailboxes.delete(mailbox);
          if (each.mailboxes.size === 0 && followed.get(name) === each) followed.delete(name);
        },
      };
    },
    onStop(key, begunAt, stop) {
      const name = nameOf(key);
      stoppable.set(name, stop);
      if ((stopped.get(name) ?? 0) >= begunAt) stop();
      return () => {
        if (stoppable.get(name) === stop) stoppable.delete(name);
      };
    },
    watching(withWords) {
      const wordsUntil = clock.now().getTime() + 2 * RENEW_MS;
      return { until: new Date(wordsUntil + KEPT_MS), wordsUntil: withWords ? new Date(wordsUntil) : null };
    },
    sweeps: [{ name: "forget-live-events", everyMs: SWEEP_MS, run: (now) => deleteOldEvents(db, now, KEPT_MS) }],
    async endStreams() {
      for (const each of followed.values()) end(each);
    },
    async stop() {
      watchers.removeCallback(observe);
      await Promise.all([renewing.stop(), notifications.stop()]);
      await Promise.all([...followed.values()].map(({ reading }) => reading));
    },
  };
}

function nameOf({ ownerId, conversationId }: Topic): string {
  return `${ownerId} ${conversationId}`;
}

function bytesOf(event: WatchConversationsResponse): number {
  return WatchConversationsResponse.encode(event).finish().byteLength;
}

/** Whether only those hear it who want words. */
function isOfWords({ event }: WatchConversationsResponse): boolean {
  const $case = event?.$case;
  return $case === "words" || $case === "speaking" || (event?.$case === "state" && !event.value.operator);
}

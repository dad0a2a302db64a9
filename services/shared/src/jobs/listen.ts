import type { Database } from "../db/database.ts";
import { listenForNotifications, type Notifications } from "../db/notifications.ts";
import type { Logger } from "../log.ts";
import { announcerOf } from "./announce.ts";

interface Listener {
  /** Pause between attempts while the database cannot be reached. */
  retryMs: number;
  onJob(queue: string): void;
  /** Called when listening begins, or begins again: notifications may have been missed. */
  onGap(): void;
}

/**
 * Listens for other processes' announcements (announce.ts) as well as this one's.
 * @param db the database with the jobs
 * @param direct the same database without a pooler in between
 */
export function listenForJobs(
  db: Database,
  direct: Database,
  log: Logger,
  { retryMs, onJob, onGap }: Listener,
): Pick<Notifications, "stop"> {
  const announcer = announcerOf(db);
  const unhear = announcer.hear(onJob);
  const heard = (notification: string) => {
    const [queue = "", from] = notification.split(" ");
    if (from !== announcer.id) onJob(queue);
  };
  const onAway = (err: unknown) => log.warn({ err }, "job notifications are unavailable, polling for jobs instead");
  const { stop } = listenForNotifications({ db, direct, channel: "jobs", retryMs, heard, onGap, onAway });
  return {
    stop: () => {
      unhear();
      return stop();
    },
  };
}

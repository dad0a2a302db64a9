import { MARKED, type Random } from "./corpus.ts";

const MESSAGES_EACH = 10;
const DAY_MS = 86_400_000;
export const DAYS = 90;
const AGENTS = 20;
/** Null in COPY's text format. */
const NULL = "\\N";

/** An agent of the seeded owners; agents with low numbers have more conversations. */
export function agentId(at: number): string {
  return `agt_${String(at).padStart(26, "0")}`;
}

export interface SeededRows {
  conversation: string;
  messages: string;
}

/** One conversation and its messages as lines for COPY. @param at when it began */
export function seededRows(
  random: Random,
  pool: readonly string[],
  ownerId: string,
  at: Date,
  isOpen: boolean,
): SeededRows {
  const id = uuidAt(random, at);
  const [type, callingType] = channel(random);
  const isCall = type === "TELEPHONY";
  const created = at.toISOString();
  const ended = new Date(at.getTime() + MESSAGES_EACH * 15_000).toISOString();
  const number = () => `+1415${String(1_000_000 + random.below(9_000_000))}`;
  const conversation = [
    ...[ownerId, id, `cnv_${id.replaceAll("-", "").slice(0, 26)}`, agentId(Math.floor(AGENTS ** random.next()))],
    ...[type, isOpen ? "IN_PROGRESS" : outcome(random), callingType, random.pick(pool).slice(0, 60), MESSAGES_EACH],
    ...[`{"customer": "C-${random.below(1_000_000)}", "plan": "${random.pick(["free", "basic", "gold"])}"}`, "{}"],
    ...[ownerId, isCall ? number() : NULL, isCall ? number() : NULL, ended, created, ended],
  ].join("\t");
  const marks = Object.entries(MARKED).filter(([, percent]) => random.next() * 100 < percent);
  const marked = random.below(MESSAGES_EACH);
  let messages = "";
  for (let seq = 1; seq <= MESSAGES_EACH; seq++) {
    const mark = seq - 1 === marked ? marks.map(([word]) => ` ${word}`).join("") : "";
    const role = seq % 2 === 1 ? "user" : "assistant";
    messages += `${ownerId}\t${id}\t${seq}\t${role}\t${random.pick(pool)}${mark}\t${created}\n`;
  }
  return { conversation: `${conversation}\n`, messages };
}

/** Start times of conversations in the days before `end`, oldest first, most of them in working hours. */
export function* moments(random: Random, count: number, end: Date): Generator<Date> {
  const start = end.getTime() - DAYS * DAY_MS;
  for (let made = 0; made < count; made++) {
    const even = start + ((made + random.next()) * DAYS * DAY_MS) / count;
    const ofDay = (even % DAY_MS) / DAY_MS;
    // Monotonic in the time of day, which keeps the order, and flat around 14:00, where most of them fall.
    const bent = ofDay + Math.sin(2 * Math.PI * (ofDay - 14 / 24)) / 7 - Math.sin((2 * Math.PI * -14) / 24) / 7;
    yield new Date(Math.floor(even / DAY_MS) * DAY_MS + Math.min(Math.floor(bent * DAY_MS), DAY_MS - 1));
  }
}

function channel(random: Random): [string, string] {
  const at = random.next();
  if (at < 0.5) return ["CHAT", NULL];
  if (at < 0.7) return ["TELEPHONY", "INBOUND"];
  if (at < 0.85) return ["TELEPHONY", "OUTBOUND"];
  return at < 0.95 ? ["WHATSAPP", NULL] : ["DAILY", NULL];
}

function outcome(random: Random): string {
  const at = random.next();
  return at < 0.85 ? "COMPLETED" : at < 0.97 ? "DISCONNECTED" : "FAILED";
}

function uuidAt(random: Random, at: Date): string {
  const time = at.getTime().toString(16).padStart(12, "0");
  const hex = (digits: number) =>
    random
      .below(16 ** digits)
      .toString(16)
      .padStart(digits, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(3)}-8${hex(3)}-${hex(6)}${hex(6)}`;
}

/** What the user of a stored conversation says. */
export interface Talk {
  lines: string[];
  /** Whether it begins with the agent's greeting, as in the widget. */
  isGreeted: boolean;
  /** Whether the replays as calls have it: the stand-in's recognition understands each of its lines. */
  isSpeakable: boolean;
}

const FACTS = [
  "When do you open?",
  "What is your address?",
  "What about delivery?",
  "Where is the parking lot?",
  "Do you have a guarantee?",
  "What is your telephone number?",
  "Do you take credit cards?",
];
const GOODBYE = "Goodbye.";
const BYES = [GOODBYE, "Thank you, goodbye!", "That is all, thanks.", "Bye!"];
const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"];
const REASONS = ["it arrived damaged", "it is late", "it is the wrong one"];
const ASKS_ORDER = [
  (id: string) => `What is the status of order ${id}?`,
  (id: string) => `When will order ${id} be delivered?`,
  (id: string) => `Please look up my order ${id}.`,
];
const ASKS_REFUND = [
  (id: string, reason: string) => `I would like a refund for order ${id}, ${reason}.`,
  (id: string, reason: string) => `Please refund order ${id}. The reason: ${reason}.`,
];
const ASKS_REPAIR = [
  (day: string) => `Can I book a repair on ${day}?`,
  (day: string) => `I need to book a repair for ${day}, please.`,
];
const ASKS_INVOICE = [
  "I have a question about the payment of my invoice.",
  "Who can explain an invoice and a payment to me?",
];

/** Each 20 conversations are of these kinds: so many with facts, orders, refunds, repairs, invoices. */
const KINDS = [..."ffffffoooooorrrrbbii"];

/** Varied conversations, the same in each run. */
export function talks(count: number): Talk[] {
  return Array.from({ length: count }, (_, at) => ({
    isGreeted: at % 2 === 0,
    ...talk(KINDS[at % KINDS.length] ?? "f", at),
  }));
}

function talk(kind: string, at: number): Omit<Talk, "isGreeted"> {
  const id = `A-${1000 + ((at * 37) % 900)}`;
  const fact = pick(FACTS, at);
  // A tenth of the users leave without a word, so that nothing ends their chats.
  const bye = at % 10 === 9 ? [] : [pick(BYES, at >> 1)];
  switch (kind) {
    case "o":
      return { lines: [...(at % 2 ? [fact] : []), pick(ASKS_ORDER, at)(id), ...bye], isSpeakable: false };
    case "r":
      return { lines: [pick(ASKS_REFUND, at)(id, pick(REASONS, at >> 1)), ...bye], isSpeakable: false };
    case "b":
      return {
        lines: [pick(ASKS_REPAIR, at)(pick(DAYS, at >> 2)), ...(at % 3 ? [] : [fact]), ...bye],
        isSpeakable: false,
      };
    case "i":
      return { lines: [pick(ASKS_INVOICE, at), ...bye], isSpeakable: false };
    default:
      return at % KINDS.length === 0
        ? { lines: [fact, GOODBYE], isSpeakable: true }
        : { lines: [fact, pick(FACTS, at + 1 + (at % 3)), ...bye], isSpeakable: false };
  }
}

function pick<T>(list: readonly T[], at: number): T {
  return list[at % list.length] as T;
}

/** What a test's user says, and what has to come of it. */
export interface Script {
  name: string;
  lines: readonly ScriptLine[];
  /** The agent ends the call. */
  agentEnds?: boolean;
}

export interface ScriptLine {
  text: string;
  noise?: "cafe" | "street";
  interruptAtMs?: number;
  dtmf?: string;
  /** What has to be recognized, and heard of the reply. */
  recognized?: RegExp;
  heard?: RegExp;
}

/** What the agent knows; the stand-in's model answers questions with it. */
export const PROMPT = `You are Ada, the front desk of a bicycle workshop.
Opening hours: Monday to Friday from nine in the morning until six in the evening.
Address: twelve Market Street, behind the old station.
Price of a repair: thirty dollars for a flat tire, and ninety for new brakes.
Delivery: we bring a bicycle to your house on Tuesday and on Friday.
Parking: there is a free parking place behind the house.
Warranty: every repair has a warranty of twelve months.`;

export const GREETING = "Hello, this is the bicycle workshop. What can I do for you?";

const OPEN = { text: "When do you open?", recognized: /open/, heard: /opening hours/i };
const ADDRESS = { text: "What is your address?", recognized: /address/, heard: /market street/i };
const DELIVERY = { text: "What about delivery?", recognized: /delivery/, heard: /tuesday/i };
const PARKING = { text: "Where is the parking place?", recognized: /parking/, heard: /free parking/i };
const WARRANTY = { text: "What is the warranty?", recognized: /warranty/, heard: /twelve months/i };
const PRICE = { text: "What is the price of a repair?", recognized: /price|repair/, heard: /thirty dollars/i };
const THANKS = { text: "Thank you.", recognized: /thank/, heard: /welcome/i };
const BYE = { text: "Goodbye.", recognized: /bye/, heard: /goodbye/i };

/** Twenty scripts of one to three lines: plain ones, in noise, that interrupt, with pauses and with keys. */
export const SCRIPTS: readonly Script[] = [
  { name: "opening hours", lines: [OPEN] },
  { name: "address", lines: [ADDRESS] },
  { name: "delivery", lines: [DELIVERY] },
  { name: "parking", lines: [PARKING] },
  { name: "warranty", lines: [WARRANTY] },
  { name: "price", lines: [PRICE] },
  { name: "two questions", lines: [OPEN, ADDRESS] },
  { name: "three questions", lines: [DELIVERY, PARKING, WARRANTY] },
  { name: "thanks", lines: [OPEN, THANKS] },
  { name: "goodbye", lines: [BYE], agentEnds: true },
  { name: "question and goodbye", lines: [ADDRESS, BYE], agentEnds: true },
  { name: "a pause in the line", lines: [{ ...OPEN, text: "Hello. I have a question. When do you open?" }] },
  {
    name: "a long line",
    lines: [{ ...PRICE, text: "My bicycle is broken, and the brakes are bad. What is the price of a repair?" }],
  },
  { name: "in a cafe", lines: [{ ...OPEN, noise: "cafe" }] },
  { name: "in the street", lines: [{ ...ADDRESS, noise: "street" }] },
  { name: "in a cafe, then quiet", lines: [{ ...DELIVERY, noise: "cafe" }, PARKING] },
  { name: "interrupts the greeting", lines: [{ ...OPEN, interruptAtMs: 800 }] },
  { name: "interrupts an answer", lines: [OPEN, { ...ADDRESS, interruptAtMs: 1_200 }] },
  { name: "keys", lines: [{ text: "", dtmf: "12#", recognized: /\[Pressed 12\]/ }] },
  { name: "a line and keys", lines: [{ ...WARRANTY, dtmf: "5#", recognized: /\[Pressed 5\]/, heard: /./ }] },
];

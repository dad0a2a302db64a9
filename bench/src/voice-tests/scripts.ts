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
Opening hours: Monday to Friday from nine to six.
Address: twelve Market Street.
Delivery: on Tuesday and on Friday.
Parking lot: behind the house, for free.
Guarantee: twelve months for every repair.
Telephone number: five five five, twelve twelve.
Credit cards: all of them.`;

export const GREETING = "Hello, this is the bicycle workshop. What can I do for you?";

// The stand-in's recognition understands these words in its own voice.
const OPEN = { text: "When do you open?", recognized: /when do you open/, heard: /opening hours/i };
const ADDRESS = { text: "What is your address?", recognized: /your address/, heard: /market street/i };
const DELIVERY = { text: "What about delivery?", recognized: /about delivery/, heard: /tuesday/i };
const PARKING = { text: "Where is the parking lot?", recognized: /parking lot/, heard: /behind the house/i };
const GUARANTEE = { text: "Do you have a guarantee?", recognized: /a guarantee/, heard: /twelve months/i };
const TELEPHONE = { text: "What is your telephone number?", recognized: /telephone number/, heard: /five five/i };
const CARDS = { text: "Do you take credit cards?", recognized: /credit card/, heard: /all of them/i };
const NAME = { text: "What is your name?", recognized: /your name/, heard: /Ada/ };
const THANKS = { text: "Thank you very much.", recognized: /thank you/, heard: /welcome/i };
const BYE = { text: "Goodbye.", recognized: /goodbye/, heard: /goodbye/i };

/** Twenty scripts of one to three lines: plain ones, with pauses, in noise, that interrupt, and with keys. */
export const SCRIPTS: readonly Script[] = [
  { name: "opening hours", lines: [OPEN] },
  { name: "in a cafe", lines: [{ ...DELIVERY, noise: "cafe" }] },
  { name: "interrupts an answer", lines: [OPEN, { ...ADDRESS, interruptAtMs: 800 }] },
  { name: "a line and keys", lines: [{ ...GUARANTEE, dtmf: "5", recognized: /guarantee \[Pressed 5\]/ }] },
  { name: "question and goodbye", lines: [ADDRESS, BYE], agentEnds: true },
  { name: "address", lines: [ADDRESS] },
  { name: "delivery", lines: [DELIVERY] },
  { name: "parking", lines: [PARKING] },
  { name: "guarantee", lines: [GUARANTEE] },
  { name: "telephone", lines: [TELEPHONE] },
  { name: "name", lines: [NAME] },
  { name: "two questions", lines: [CARDS, ADDRESS] },
  { name: "three questions", lines: [DELIVERY, PARKING, GUARANTEE] },
  { name: "thanks", lines: [TELEPHONE, THANKS] },
  { name: "goodbye", lines: [BYE], agentEnds: true },
  { name: "a pause in the line", lines: [{ ...OPEN, text: "Hello. When do you open?" }] },
  {
    name: "a long line",
    lines: [{ ...TELEPHONE, text: "I need help with my order. What is your telephone number?", heard: /./ }],
  },
  {
    name: "in the street, then in a cafe",
    lines: [
      { ...PARKING, noise: "street" },
      { ...ADDRESS, noise: "cafe" },
    ],
  },
  { name: "interrupts the greeting", lines: [{ ...GUARANTEE, interruptAtMs: 600 }] },
  { name: "keys", lines: [{ text: "", dtmf: "12#", recognized: /^\[Pressed 12\]$/ }] },
];

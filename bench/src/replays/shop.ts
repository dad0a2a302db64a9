/** The agent whose conversations are stored: the service desk of a shop. */

export const COMPANY = '{{company | "Riverside Cycles"}}';

export const RULE_LOOK_UP = "Look the order up before a refund.";

// The stand-in's recognition understands these words in its own voice, which the replays as calls need.
export const PROMPT = `You are Ada, at the service desk of ${COMPANY}. Be brief.
${RULE_LOOK_UP}
Opening hours: Monday to Friday from nine to six.
Address: twelve Market Street.
Delivery: on Tuesday and on Friday.
Parking lot: behind the house, for free.
Guarantee: ${COMPANY} repairs everything for twelve months.
Telephone number: five five five, twelve twelve.
Credit cards: all of them.`;

export const GREETING = `Hello, this is ${COMPANY}. What can I do for you?`;

export const ACCOUNTING_PROMPT = "You are Ben, in accounting.\nInvoice and payment: sent by email within two days.";
export const SALES_PROMPT = "You are Cleo, in sales.\nNew bicycles: on show every day.";

const text = (description: string) => ({ type: "string", description });
const member = (words: readonly string[]) => ({ type: "string", enum: words });

const ORDER_ID = { name: "order_id", in: "path", required: true, schema: text("Number of the order, such as A-1001.") };
const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"];

/** The tools of the shop's server. */
export const TOOLS = {
  lookUpOrder: {
    name: "look_up_order",
    description: "Looks up an order: its status, and when it is delivered.",
    method: "GET",
    path: "/orders/{order_id}",
    parameters: [ORDER_ID],
  },
  refundOrder: {
    name: "refund_order",
    description: "Refunds an order, with the reason.",
    method: "POST",
    path: "/orders/{order_id}/refund",
    parameters: [
      ORDER_ID,
      { name: "reason", in: "body", required: true, schema: member(["damaged", "late", "wrong"]) },
    ],
  },
  bookRepair: {
    name: "book_repair",
    description: "Books a repair in the workshop.",
    method: "POST",
    path: "/repairs",
    parameters: [{ name: "day", in: "body", required: true, schema: member(DAYS) }],
  },
} as const;

export const TOPICS = ["question", "order", "refund", "repair", "invoice"] as const;

export function analysisSchema(topics: readonly string[]) {
  return {
    topic: { type: `Literal[${[...topics, "other"].map((topic) => JSON.stringify(topic)).join(",")}]` },
    helped: { type: "bool" },
    order_id: { type: "Optional[str]" },
  };
}

/** Serves the shop's own server, whose answers depend on the order alone. */
export function startShop(): { url: string; stop(): Promise<void> } {
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    routes: {
      "/orders/:id": ({ params }) => Response.json(orderOf(params.id)),
      "/orders/:id/refund": ({ params }) => Response.json({ refund: `${numberOf(params.id) % 90} dollars` }),
      "/repairs": async (request) => Response.json({ booked: ((await request.json()) as { day: string }).day }),
    },
  });
  return { url: server.url.origin, stop: () => server.stop(true) };
}

function orderOf(id: string) {
  const number = numberOf(id);
  return {
    status: ["packed", "on its way", "delayed"][number % 3],
    delivery: DAYS[number % DAYS.length],
    carrier: ["by bicycle", "by van"][number % 2],
  };
}

function numberOf(id: string): number {
  return Number(id.replace(/\D/g, ""));
}

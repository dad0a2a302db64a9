import { join } from "node:path";
import { type Client, credentials, loadPackageDefinition, type ServiceError, status } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const { PARLEY_CONVERSATION_ADDRESS = "127.0.0.1:50054", PARLEY_OWNER_ID = "", AGENT_ID = "" } = process.env;
// Choose it once, before you send anything, and keep it where a restarted runtime finds it.
const { CONVERSATION_ID = crypto.randomUUID() } = process.env;
const protos = {
  includeDirs: [join(import.meta.dir, "../../../proto")],
  keepCase: true,
  enums: String,
  defaults: true,
};
// biome-ignore lint/suspicious/noExplicitAny: made from the protos at run time
const { parley } = loadPackageDefinition(loadSync("parley/conversation/v1/conversation_service.proto", protos)) as any;
const client: Client & Record<string, CallableFunction> = new parley.conversation.v1.ConversationService(
  PARLEY_CONVERSATION_ADDRESS,
  credentials.createInsecure(),
);

const key = { owner_id: PARLEY_OWNER_ID, conversation_id: CONVERSATION_ID };
const start = {
  ...key,
  agent_id: AGENT_ID,
  type: "CONVERSATION_TYPE_TELEPHONY",
  calling_type: "CALLING_TYPE_INBOUND",
  from_mobile_number: "+919876543210",
  to_mobile_number: "+14155550123",
  telephony_provider: "TWILIO",
};
const spoken = [
  { role: "ROLE_ASSISTANT", content: "Front desk, how can I help?" },
  { role: "ROLE_USER", content: "When do you open?" },
  { role: "ROLE_ASSISTANT", content: "At nine." },
];

// biome-ignore lint/suspicious/noExplicitAny: answers are made from the protos at run time
function answerOf(call: (answered: (error: ServiceError | null, answer: any) => void) => void): Promise<any> {
  return new Promise((resolve, reject) => call((error, answer) => (error ? reject(error) : resolve(answer))));
}

/** Sends what is not stored yet. A real call keeps the stream open and sends each message when it is said. */
async function transcribe(): Promise<void> {
  // On a retry this is the same request; its response says where to continue.
  const { last_sequence } = await answerOf((answered) => client.StartConversation?.(start, answered));
  // Everything is stored; a stream without a message would be refused.
  if (last_sequence >= spoken.length) return;
  await answerOf((answered) => {
    const stream = client.AppendTranscript?.(answered);
    for (const [at, message] of spoken.entries()) {
      if (at >= last_sequence) stream.write({ ...key, sequence: at + 1, message });
    }
    stream.end();
  });
}

/** Retries a request: repeats store nothing twice, and a conversation ends once. */
async function persistently<T>(work: () => Promise<T>): Promise<T> {
  for (let delayMs = 250; ; delayMs = Math.min(2 * delayMs, 10_000)) {
    try {
      return await work();
    } catch (error) {
      if (![status.UNAVAILABLE, status.DEADLINE_EXCEEDED].includes((error as ServiceError).code)) throw error;
      await Bun.sleep(delayMs);
    }
  }
}

await persistently(transcribe);
const end = { ...key, outcome: "OUTCOME_SUCCESS", duration_seconds: 21.5 };
const ended = await persistently(() => answerOf((answered) => client.CompleteConversation?.(end, answered)));
process.stdout.write(`${key.conversation_id} ${ended.status}\n`);
client.close();

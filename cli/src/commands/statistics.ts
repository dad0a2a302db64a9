import { presentStatistics } from "@parley/shared/domain/present/statistics";
import { type Command, InvalidArgumentError } from "commander";
import { type Environment, requireOwner, withConversations } from "../connection.ts";
import { examples, ownerVerb, parseWholeNumber } from "../options.ts";
import { type Fields, formatRecord, formatTable, print } from "../print.ts";

interface StatisticsOptions {
  owner: string;
  days: number;
  agent?: string;
  json?: boolean;
}

type Statistics = ReturnType<typeof presentStatistics>;

const DAY_MS = 24 * 60 * 60 * 1_000;
const DAYS_DEFAULT = 30;
const DAYS_MAX = 366;
const LATENCIES = ["text_p50_ms", "text_p95_ms", "call_p50_ms", "call_p95_ms"];
const COSTS = ["cost_usd", "unpriced_replies"];
const OF_DAYS = [
  "day",
  "conversations",
  "completed",
  "disconnected",
  "failed",
  "call_seconds",
  "replies",
  ...COSTS,
  ...LATENCIES,
];
const OF_AGENTS = [
  "agent_id",
  "conversations",
  "completed",
  "call_seconds",
  "replies",
  "input_tokens",
  "output_tokens",
  ...COSTS,
];
const OF_MODELS = ["provider_name", "model_name", "replies", "input_tokens", "output_tokens", ...COSTS];

export function addStatisticsCommand(program: Command, env: Environment): void {
  ownerVerb(program, "statistics")
    .description("Show statistics of an owner's recent conversations: outcomes, call time, tokens, cost, and latency")
    .option("--days <days>", "Number of days up to today, in UTC", parseDays, DAYS_DEFAULT)
    .option("--agent <agent_id>", "Only conversations of this agent, agt_…")
    .addHelpText("after", examples(program, "statistics --owner own_…", "statistics --owner own_… --days 7 --json"))
    .action(async ({ owner, days, agent = "", json }: StatisticsOptions) => {
      const end = new Date((Math.floor(Date.now() / DAY_MS) + 1) * DAY_MS);
      const first = new Date(end.getTime() - days * DAY_MS);
      await requireOwner(env, owner);
      const response = await withConversations(env, (conversations) =>
        conversations.getStatistics({ ownerId: owner, from: first, to: end, agentId: agent }),
      );
      const statistics = presentStatistics(response, { first, end });
      await print(json, statistics, textOf(statistics));
    });
}

function parseDays(text: string): number {
  const days = parseWholeNumber(text);
  if (days < 1 || days > DAYS_MAX) throw new InvalidArgumentError(`It must be from 1 to ${DAYS_MAX}.`);
  return days;
}

function textOf({ days, total, agents, models }: Statistics): string {
  const shown = days.map(dayOf).filter(({ conversations, replies }) => Number(conversations) + Number(replies) > 0);
  return [
    formatRecord(withLatencies(inDollars(total))),
    ...(shown.length > 0 ? [formatTable(OF_DAYS, shown)] : []),
    ...(agents.length > 0 ? [formatTable(OF_AGENTS, agents.map(inDollars))] : []),
    ...(models.length > 0 ? [formatTable(OF_MODELS, models.map(inDollars))] : []),
  ].join("\n\n");
}

/** A day with its channels added up. */
function dayOf({ day, channels, text_latency, call_latency }: Statistics["days"][number]): Fields {
  const sum = (figure: Exclude<keyof (typeof channels)[number], "conversation_type">) =>
    channels.reduce((before, channel) => before + channel[figure], 0);
  const replies = sum("replies");
  const cost_usd_micros = sum("cost_usd_micros");
  const unpriced_replies = sum("unpriced_replies");
  return withLatencies({
    day,
    conversations: sum("conversations"),
    completed: sum("completed"),
    disconnected: sum("disconnected"),
    failed: sum("failed"),
    call_seconds: Math.round(sum("call_seconds") * 10) / 10,
    ...inDollars({ replies, cost_usd_micros, unpriced_replies }),
    text_latency,
    call_latency,
  });
}

interface Costs {
  replies: number;
  cost_usd_micros: number;
  unpriced_replies: number;
}

/** The same with the cost in dollars, null if that of every reply is unknown. */
function inDollars<F extends Costs>({ cost_usd_micros, ...figures }: F) {
  const { replies, unpriced_replies } = figures;
  const isUnknown = replies > 0 && unpriced_replies >= replies;
  return { ...figures, cost_usd: isUnknown ? null : (cost_usd_micros / 1e6).toFixed(6) };
}

type Latency = Statistics["total"]["text_latency"];

/** The same with each latency as fields of its own. */
function withLatencies<F extends { text_latency: Latency; call_latency: Latency }>({
  text_latency,
  call_latency,
  ...figures
}: F): Fields {
  return {
    ...(figures as unknown as Fields),
    text_p50_ms: text_latency?.p50_ms ?? null,
    text_p95_ms: text_latency?.p95_ms ?? null,
    call_p50_ms: call_latency?.p50_ms ?? null,
    call_p95_ms: call_latency?.p95_ms ?? null,
  };
}

import { parseArgs } from "node:util";
import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { createClient } from "@parley/shared/rpc/client";
import { obtain } from "@parley/testkit/programs/obtain";
import { startChromium } from "@parley/tests/kit/calls/chromium.ts";
import { createAgent } from "../agents.ts";
import { medians, table } from "../figures.ts";
import type { Run } from "../run.ts";
import { type BenchStack, startBenchStack } from "../stack.ts";
import { type Figures, type Measurement, measurePage } from "./measure.ts";
import { type Objects, pagesOf } from "./pages.ts";

const LCP_MS_MAX = 1_000;
const INP_MS_MAX = 100;
const AGENTS = 20;
const CONVERSATIONS = 25;

/**
 * Opens every page of the dashboard in Chromium with an owner's data, uses it, and measures when its largest part is painted and how
 * long interactions take. `--throttle 4` and `--rounds 5` are the defaults; `--page Agents` measures one page.
 */
export async function benchDashboard(run: Run): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      throttle: { type: "string", default: "4" },
      rounds: { type: "string", default: "5" },
      page: { type: "string" },
    },
  });
  const [throttle, rounds] = [Number(values.throttle), Number(values.rounds)];
  if (!(throttle >= 1) || !(rounds >= 1)) throw new Error("--throttle and --rounds must be at least 1");

  console.log("starting Parley and Chromium");
  const stack = await startBenchStack(run);
  const token = await signIn(stack);
  const pages = pagesOf(await seed(stack, token)).filter(({ name }) => [undefined, name].includes(values.page));
  if (pages.length === 0) throw new Error("--page must be the name of a page, such as Overview or API keys");
  // The whole browser, as users have it.
  const browser = await startChromium({ program: await obtain("chromium") });
  run.onEnd(() => browser.close());

  const measured: { name: string; figures: Figures }[] = [];
  for (const page of pages) {
    const visits: Measurement[] = [];
    for (let round = 0; round < rounds; round++)
      visits.push(await measurePage(browser, page, { url: stack.url, token, throttle }));
    const figures = medians<keyof Figures>(visits.map((visit) => visit.figures));
    measured.push({ name: page.name, figures });
    const slowest = visits.toSorted((a, b) => b.figures.inp - a.figures.inp)[0]?.slowest;
    const told = slowest ? `; slowest of all rounds: ${slowest}` : "";
    console.log(`${page.name}: LCP ${figures.lcp.toFixed(0)} ms, INP ${figures.inp.toFixed(0)} ms${told}`);
  }
  console.log(
    `\n${reportOf(measured)}\n\nLCP, INP: medians of ${rounds} visits with the CPU ${throttle} times slower.`,
  );
}

function reportOf(measured: readonly { name: string; figures: Figures }[]): string {
  const rows = measured.map(({ name, figures: { lcp, inp, cpu, scripts, bytes } }) => [
    name,
    `${lcp.toFixed(0)} ms`,
    lcp <= LCP_MS_MAX ? "met" : "MISSED",
    inp === 0 ? "< 16 ms" : `${inp.toFixed(0)} ms`,
    inp <= INP_MS_MAX ? "met" : "MISSED",
    `${cpu.toFixed(0)} ms`,
    `${scripts}`,
    `${(bytes / 1_000).toFixed(0)} kB`,
  ]);
  const heads = [
    "page",
    "LCP",
    `≤ ${LCP_MS_MAX} ms`,
    "INP",
    `≤ ${INP_MS_MAX} ms`,
    "CPU, not throttled",
    "scripts",
    "compressed",
  ];
  return table([heads, ...rows]);
}

async function signIn(stack: BenchStack): Promise<string> {
  const accounts = createClient(AccountServiceService, { peer: "account", address: stack.address("account") });
  try {
    const password = "the pass phrase of a benchmark";
    await accounts.setPassword({ ownerId: stack.ownerId, password });
    const { owner } = await accounts.getOwner({ ownerId: stack.ownerId });
    const { token } = await accounts.signIn({ email: owner?.email ?? "", password });
    return token;
  } finally {
    accounts.close();
  }
}

/** A full first page of each list that fills at once. */
async function seed(stack: BenchStack, token: string): Promise<Objects> {
  const { default_llm } = await ask(stack, token, "/v1/manage/models");
  const agents = [];
  for (let at = 1; at <= AGENTS; at++)
    agents.push(await createAgent(stack, { agent_name: `Agent ${at}`, llm: default_llm }));
  const [{ id: agentId } = { id: "" }] = agents;
  let conversationId = "";
  for (let at = 0; at < CONVERSATIONS; at++) {
    for (let turn = 0; turn < 3; turn++) {
      const message = { agent_id: agentId, message: "When are you open?", streaming: false };
      const said = await ask(
        stack,
        token,
        "/v1/public/chat",
        turn === 0 ? message : { ...message, session_id: conversationId },
      );
      conversationId = said.session_id;
    }
  }
  const webhook = { name: "Ledger", url: "https://hooks.example.com/parley", request_type: "POST" };
  const { destination_id: destinationId } = await ask(stack, token, "/v1/manage/destinations", webhook);
  return { agentId, conversationId, destinationId };
}

// biome-ignore lint/suspicious/noExplicitAny: what the API answers is not typed here
async function ask({ url, apiKey }: BenchStack, token: string, path: string, body?: object): Promise<any> {
  const headers = path.startsWith("/v1/manage")
    ? { Cookie: `parley_session=${token}`, Origin: url }
    : { "X-API-Key": apiKey };
  const response = await fetch(`${url}${path}`, {
    method: body ? "POST" : "GET",
    headers: { ...headers, "Content-Type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

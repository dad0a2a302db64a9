import { parseArgs } from "node:util";
import { eventually } from "@parley/testkit/eventually";
import { memoryUsed } from "../memory.ts";
import type { Run } from "../run.ts";
import type { BenchStack } from "../stack.ts";
import { type Attack, TIER_NAMES, type TierName } from "./attack.ts";
import { ATTACKS } from "./attacks.ts";
import { type Field, startField } from "./field.ts";
import { startAttacker } from "./hostile/launch.ts";
import { markdown } from "./markdown.ts";
import { memoryLimits } from "./memory-limits.ts";
import { type MemoryWatch, watchMemory } from "./memory-peaks.ts";
import type { Phase } from "./phase.ts";
import {
  type AllFigures,
  attackText,
  isDisturbed,
  LIMITED,
  type Limits,
  type Seen,
  summaryText,
  undisturbedText,
} from "./report.ts";
import { allFigures, type Round, resultOf } from "./rounds.ts";
import { KIND_NAMES } from "./victim.ts";

/** Until the victim's code paths are compiled: a slow start would make the undisturbed p99 lenient. */
const WARM_UP_MS = 12_000;
/** Each of the quiet stretches before the first attack and after the last. */
const QUIET_MS = 10_000;
/** How long requests in progress at the end of an attack may take; later ones count as late. */
const SETTLE_MS = 2_000;
/** The longest wait until the victim is served as before. */
const RECOVERED_WITHIN_MS = 6_000;
/** Each look whether it is. The last counts as quiet, so that other load on the machine affects all figures alike. */
const LOOK_MS = 1_500;
/** A process that uses more than this part of its limit is restarted, so that the next attack's peak is its own. */
const FRESH_PART = 0.5;
const BACK_MS = 20_000;
/** After the last attack, for the victim's webhooks and analyses that have not arrived: longer than their retries take. */
const LATE_MS = 30_000;

/**
 * Measures how much a hostile owner slows down another: the victim's response times and every process's peak memory, by attack.
 * `--only NAME,…` selects attacks, `--rounds N` repeats them all, `--seconds N` sets the length of each, and `--tier NAME` the tier
 * of the hostile keys.
 */
export async function benchNeighbours(run: Run): Promise<void> {
  const { attacks, rounds, seconds, tier } = readArguments();
  const startedMs = performance.now();
  const limits = await memoryLimits(LIMITED);
  console.log("starting Parley and the victim");
  const field = await startField(run);
  if (!field.idleCpu.isIdle)
    console.log("hostile processes take some CPU from Parley here: preventing that requires root");
  await Bun.sleep(WARM_UP_MS);
  const quiet = await observe(field, () => Bun.sleep(QUIET_MS));
  const quietPhases = [quiet.phase];
  console.log(undisturbedText("before the attacks", quiet.seen, limits));

  const attacked: Round[] = [];
  const untried = new Set<string>();
  for (const attack of Array.from({ length: rounds }, () => attacks).flat()) {
    const setting = { tier: tier ?? attack.tier, seconds, quietPhases, limits };
    const one = await attackOnce(run, field, attack, setting);
    if (!one) {
      console.log(`\n${attack.name}: could not be prepared`);
      untried.add(attack.name);
      continue;
    }
    attacked.push(one);
    if (one.recovered) quietPhases.push(one.recovered);
    console.log(attackText(resultOf([one]), allFigures(quietPhases), limits));
  }
  const quietAfter = await observe(field, () => Bun.sleep(QUIET_MS));
  quietPhases.push(quietAfter.phase);
  console.log(undisturbedText("after the attacks", quietAfter.seen, limits));
  const untilMs = performance.now() + LATE_MS;
  for (const { phase } of attacked) await phase.settle(Math.max(0, untilMs - performance.now()));
  field.victim.stop();
  const results = Map.groupBy(attacked, ({ attack }) => attack)
    .values()
    .map(resultOf)
    .toArray();
  const took = performance.now() - startedMs;
  for (const { attack } of results) untried.delete(attack.name);
  console.log(summaryText(results, [...untried], allFigures(quietPhases), limits));
  const stretches = { before: quiet.seen.figures, after: quietAfter.seen.figures };
  console.log(markdown(results, allFigures(quietPhases), stretches, limits));
  console.log(`\nThe run took ${(took / 60_000).toFixed(1)} minutes`);
}

function readArguments() {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      only: { type: "string" },
      rounds: { type: "string", default: "1" },
      seconds: { type: "string", default: "10" },
      tier: { type: "string" },
    },
  });
  const names = values.only?.split(",") ?? ATTACKS.map(({ name }) => name);
  const attacks = names.map((name) => {
    const attack = ATTACKS.find((candidate) => candidate.name === name);
    if (!attack) throw new Error(`--only takes some of ${ATTACKS.map((each) => each.name).join(", ")}`);
    return attack;
  });
  const tier = TIER_NAMES.find((name) => name === values.tier);
  if (values.tier !== undefined && !tier) throw new Error(`--tier is one of ${TIER_NAMES.join(", ")}`);
  const rounds = Number(values.rounds);
  if (!(Number.isInteger(rounds) && rounds >= 1 && rounds <= 20))
    throw new Error("--rounds is a whole number from 1 to 20");
  const seconds = Number(values.seconds);
  if (!(seconds >= 1 && seconds <= 120)) throw new Error("--seconds is a number from 1 to 120");
  return { attacks, rounds, seconds, tier };
}

interface Setting {
  tier: TierName;
  seconds: number;
  /** The phases without an attack. */
  quietPhases: readonly Phase[];
  limits: Limits;
}

/** @returns null when the attack could not be prepared, for example because Parley still suffers from the previous one */
async function attackOnce(
  run: Run,
  field: Field,
  attack: Attack,
  { tier, seconds, quietPhases, limits }: Setting,
): Promise<Round | null> {
  const { stack } = field;
  const owner = await field.createHostile(tier);
  const attacker = await startAttacker(run, field.idleCpu, {
    attack: attack.name,
    url: stack.url,
    ...owner,
    conversationAddress: stack.address("conversation"),
    dispatcherAddress: stack.address("webhook-dispatcher"),
  });
  if (!(await attacker.ready)) {
    await attacker.stop();
    return null;
  }
  field.victim.enter();
  let tally = {};
  const { seen, phase } = await observe(
    field,
    async () => {
      attacker.begin();
      await Bun.sleep(seconds * 1000);
    },
    async () => {
      tally = await attacker.stop();
    },
  );
  await field.silence(owner.ownerId);
  const undisturbed = allFigures(quietPhases);
  const { recoveredMs, phase: recovered } = await recover(field, undisturbed);
  await refresh(field, limits);
  return { attack, tier, seen, phase, tally, recoveredMs, recovered };
}

/** Watches the victim and the processes during some work, and waits for the requests that began in that time. */
async function observe(
  { stack, victim }: Field,
  work: () => Promise<unknown>,
  after: () => Promise<unknown> = async () => {},
): Promise<{ seen: Seen; phase: Phase }> {
  const memory = watchMemory(() => pidsOf(stack));
  const phase = victim.enter();
  await work();
  victim.enter();
  await phase.settle(SETTLE_MS);
  const seen = seenNow(phase, memory);
  memory.stop();
  await after();
  return { seen, phase };
}

function seenNow(phase: Phase, memory: MemoryWatch): Seen {
  return { figures: allFigures([phase]), peaks: memory.peaks(), replaced: memory.replaced() };
}

/** Waits until the victim is served as without an attack. @returns nulls if that takes too long */
async function recover(
  { victim }: Field,
  undisturbed: AllFigures,
): Promise<{ recoveredMs: number; phase: Phase } | { recoveredMs: null; phase: null }> {
  const startedMs = performance.now();
  while (performance.now() - startedMs < RECOVERED_WITHIN_MS) {
    const phase = victim.enter();
    const lookedMs = performance.now() - startedMs;
    await Bun.sleep(LOOK_MS);
    victim.enter();
    await phase.settle(LOOK_MS);
    const figures = allFigures([phase]);
    if (!KIND_NAMES.some((kind) => isDisturbed(figures[kind], undisturbed[kind]))) {
      return { recoveredMs: lookedMs, phase };
    }
  }
  return { recoveredMs: null, phase: null };
}

/** Ends the processes that hold much memory; the stack restarts them. */
async function refresh({ stack, victim }: Field, limits: Limits): Promise<void> {
  const large = LIMITED.filter((name) => memoryUsed(stack.pids([name])) > limits[name] * FRESH_PART);
  if (large.length === 0) return;
  const before = pidsOf(stack);
  for (const pid of stack.pids(large)) process.kill(pid);
  await eventually(() => {
    const now = pidsOf(stack);
    if (large.some((name) => now[name] === before[name])) throw new Error(`${large} did not come back`);
  }, BACK_MS);
  victim.enter();
  await Bun.sleep(WARM_UP_MS / 2);
}

function pidsOf(stack: BenchStack): Record<string, number> {
  return Object.fromEntries(LIMITED.map((name) => [name, stack.pids([name])[0] ?? 0]));
}

/** What the API, the agent service and the command line know of an agent's tests (docs/testing-agents.md). */

export const TEST_KINDS = ["scripted", "simulated"] as const;
export const TEST_CHANNELS = ["text", "voice"] as const;
export const UNMOCKED = ["error", "real"] as const;
export const NOISES = ["cafe", "street"] as const;
/** Who ended a conversation. The system does so after silence or a fault, or when a simulated user has no turns left. */
export const ENDED_BY = ["agent", "user", "system"] as const;
export const UNPRICED = ["allow"] as const;

export const ASSERTION_TYPES = [
  ...(["equals", "contains", "not_contains", "matches", "tool_called", "tool_not_called", "handed_off_to"] as const),
  ...(["ended_by", "language", "latency_ms", "source_used", "analysis", "judge"] as const),
] as const;

export const RUN_STATUSES = ["QUEUED", "RUNNING", "PASSED", "FAILED", "CANCELLED", "ERROR"] as const;

type AssertionType = (typeof ASSERTION_TYPES)[number];
export type RunStatus = (typeof RUN_STATUSES)[number];

/** Limits of a test. A test as JSON has at most `bytes`. */
export const TEST_LIMITS = {
  bytes: 128 * 1024,
  messages: 50,
  /** Characters of what a user says, as of any message. */
  message: 4_000,
  /** Characters of what a voice speaks. */
  spoken: 1_000,
  assertions: 50,
  mocks: 50,
  /** Milliseconds. */
  delay: 120_000,
  turns: 50,
  repeat: 10,
  ofAgent: 200,
  /** Conversations of a run or a replay. */
  conversations: 500,
} as const;

export const TURNS_DEFAULT = 10;

export interface Line {
  /** Empty if the user only presses keys. */
  text: string;
  noise?: (typeof NOISES)[number] | null;
  interrupt_at_ms?: number | null;
  dtmf?: string | null;
}

/** A language model, as in the API. Without a key: a model at the agent's own endpoint has the agent's key. */
export interface TestModel {
  provider_name: string;
  model_name: string;
  params?: { temperature?: number | null; base_url?: string | null; api_type?: string | null } | null;
}

export interface Mock {
  tool: string;
  /** Arguments that a call must have for the mock to answer it; it may have others. */
  when?: Record<string, unknown> | null;
  delay_ms?: number | null;
  result?: unknown;
  /** Whether the result is what a model was told before, rather than what the tool's server answers. */
  recorded?: boolean | null;
  error?: string | null;
}

/** What must be true of a turn, counted from 1, or of the whole conversation. */
export interface Assertion {
  type: AssertionType;
  turn?: number | null;
  value?: string | null;
  tool?: string | null;
  arguments?: Record<string, unknown> | null;
  agent_id?: string | null;
  max?: number | null;
  document?: string | null;
  field?: string | null;
  equals?: unknown;
  criterion?: string | null;
  model?: TestModel | null;
}

/** A test as it is stored, in the API's form and with every default filled in. */
export interface TestDefinition {
  kind: (typeof TEST_KINDS)[number];
  channel: (typeof TEST_CHANNELS)[number];
  repeat: number;
  /** How many of the attempts must pass. */
  pass_at_least: number;
  /** Of a scripted test; empty otherwise. */
  messages: (string | Line)[];
  /** This and all fields to `model`: of a simulated test; null otherwise. */
  persona: string | null;
  goal: string | null;
  first_message: string | null;
  turns_max: number | null;
  /** Who plays the user; null: the agent's own model. */
  model: TestModel | null;
  variables: Record<string, unknown>;
  tool_mocks: Mock[];
  unmocked: (typeof UNMOCKED)[number];
  assertions: Assertion[];
}

export interface AssertionResult {
  type: AssertionType;
  turn?: number;
  passed: boolean;
  reason: string;
}

/** Every program that has an image, and where it begins. Its name is that of its binary and of its target in the Dockerfile. */
export const PROGRAMS = {
  gateway: "gateway/src/main.ts",
  account: "services/account/src/main.ts",
  agent: "services/agent/src/main.ts",
  prompt: "services/prompt/src/main.ts",
  conversation: "services/conversation/src/main.ts",
  "webhook-dispatcher": "services/webhook-dispatcher/src/main.ts",
  migrate: "deploy/src/migrate/main.ts",
  parley: "cli/src/main.ts",
  model: "dev/stand-ins/model/main.ts",
} as const;

export type ProgramName = keyof typeof PROGRAMS;

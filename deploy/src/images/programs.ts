/** Every program that has an image, with its entry point. Binary and Dockerfile target have the program's name. */
export const PROGRAMS = {
  gateway: "gateway/src/main.ts",
  account: "services/account/src/main.ts",
  agent: "services/agent/src/main.ts",
  prompt: "services/prompt/src/main.ts",
  conversation: "services/conversation/src/main.ts",
  "webhook-dispatcher": "services/webhook-dispatcher/src/main.ts",
  messaging: "services/messaging/src/main.ts",
  knowledge: "services/knowledge/src/main.ts",
  migrate: "deploy/src/migrate/main.ts",
  parley: "cli/src/main.ts",
  model: "dev/stand-ins/model/main.ts",
} as const;

export type ProgramName = keyof typeof PROGRAMS;

import { expect, test } from "bun:test";
import { withoutSecrets } from "./without-secrets.ts";

const MASK = "********6789";
const model = (api_key: string, fallbacks: object[] = []) => ({
  provider_name: "CUSTOM_LLM",
  model_name: "mine",
  params: { base_url: "https://llm.example/v1", api_key },
  fallbacks,
});

test("work that the browser keeps has no key that was entered, at any depth, and keeps the masks of stored ones", () => {
  const changes = { llm: model("sk-new", [model("sk-fallback")]), agent_name: "Front desk" };
  const kept = withoutSecrets({ changes: changes as never, bases: { llm: model(MASK), agent_name: "Desk" } });
  expect(JSON.stringify(kept)).not.toContain("sk-");
  expect(kept.changes).toMatchObject({ agent_name: "Front desk", llm: { params: { api_key: MASK } } });
  expect(kept.changes.llm?.fallbacks?.[0]).toMatchObject({ params: { base_url: "https://llm.example/v1" } });
  expect(kept.bases).toEqual({ llm: model(MASK), agent_name: "Desk" });
});

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

test("work that the browser keeps has the name of a secret that is a key", () => {
  const changes = { llm: { ...model(""), params: { api_key: { secret: "model_key" } } } };
  const kept = withoutSecrets({ changes: changes as never, bases: { llm: model(MASK) } });
  expect(kept.changes.llm).toMatchObject({ params: { api_key: { secret: "model_key" } } });
});

test("work that the browser keeps has neither a start webhook's new secret nor a new text of its headers", () => {
  const stored = { url: "https://crm.example/", headers: { Authorization: "********6789" } };
  const changed = {
    ...stored,
    secret: "whsec_new",
    headers: { Authorization: "Bearer new", Plan: { secret: "plan" } },
  };
  const { changes } = withoutSecrets({
    changes: { start_webhook: changed } as never,
    bases: { start_webhook: stored },
  });
  expect(changes.start_webhook).toEqual({
    url: "https://crm.example/",
    headers: { Authorization: "********6789", Plan: { secret: "plan" } },
  } as never);
});

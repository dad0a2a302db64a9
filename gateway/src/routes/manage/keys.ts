import { presentKey, presentKeyWithUse } from "@parley/shared/domain/present/account";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { readDate } from "../../http/date.ts";
import { required } from "../../present/required.ts";
import { Done } from "../../schemas/manage/fields.ts";
import { CreateKeyBody, Key, KeyList, ListKeysQuery, NewKey } from "../../schemas/manage/keys.ts";
import { endpoint, endpoints, MANAGED } from "../endpoint.ts";

export function keyRoutes(gate: GateContext, { accounts }: Clients) {
  const route = endpoints(gate, MANAGED);
  return new Elysia({ prefix: "/v1/manage/keys" })
    .get(
      "/",
      ...route(
        {
          id: "listKeys",
          summary: "List API keys, newest first",
          query: ListKeysQuery,
          response: KeyList,
        },
        async ({ ownerId, query, origin }) => {
          const { keys } = await accounts.listKeys({ ownerId }, { origin });
          return { keys: keys.map(query.include === "last_use" ? presentKeyWithUse : presentKey) };
        },
      ),
    )
    .post(
      "/",
      ...route(
        {
          id: "createKey",
          summary: "Create an API key, shown only once",
          body: CreateKeyBody,
          response: NewKey,
          refuses: ["conflict"],
        },
        async ({ ownerId, body, origin }) => {
          const { key, apiKey } = await accounts.createKey(
            {
              ownerId,
              name: body.name ?? "",
              scopes: body.scopes ?? [],
              expiresAt: body.expires_at ? readDate("expires_at", body.expires_at) : undefined,
            },
            { origin },
          );
          return { ...presentKey(required(key)), api_key: apiKey };
        },
      ),
    )
    .post("/:key_id/activate", ...change(gate, "activateKey", "Activate an API key", accounts.activateKey))
    .post("/:key_id/deactivate", ...change(gate, "deactivateKey", "Deactivate an API key", accounts.deactivateKey))
    .delete(
      "/:key_id",
      ...route(
        {
          id: "deleteKey",
          summary: "Delete an API key",
          response: Done,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, origin }) => {
          await accounts.deleteKey({ ownerId, keyId: params.key_id ?? "" }, { origin });
          return { message: "API key deleted" };
        },
      ),
    );
}

/** Takes effect on every gateway within a second. */
function change(gate: GateContext, id: string, summary: string, call: Clients["accounts"]["activateKey"]) {
  return endpoint(
    gate,
    { id, tag: "Management", summary, scope: "session", response: Key, refuses: ["condition", "not_found"] },
    async ({ ownerId, params, origin }) => {
      const { key } = await call({ ownerId, keyId: params.key_id ?? "" }, { origin });
      return presentKey(required(key));
    },
  );
}

import { presentSecret } from "@parley/shared/domain/present/secret";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { required } from "../../present/required.ts";
import { Done } from "../../schemas/manage/fields.ts";
import { CreateSecretBody, Secret, SecretList, SetSecretBody } from "../../schemas/manage/secrets.ts";
import { endpoint } from "../endpoint.ts";

export function secretRoutes(gate: GateContext, { accounts }: Clients) {
  return new Elysia({ prefix: "/v1/manage/secrets" })
    .get(
      "/",
      ...endpoint(
        gate,
        {
          id: "listSecrets",
          tag: "Management",
          summary: "List the secrets of tools, without their values",
          scope: "session",
          response: SecretList,
        },
        async ({ ownerId, origin }) => {
          const { secrets } = await accounts.listSecrets({ ownerId }, { origin });
          return { secrets: secrets.map(presentSecret) };
        },
      ),
    )
    .post(
      "/",
      ...endpoint(
        gate,
        {
          id: "createSecret",
          tag: "Management",
          summary: "Create a secret that tools send",
          scope: "session",
          body: CreateSecretBody,
          response: Secret,
          refuses: ["conflict"],
        },
        async ({ ownerId, body, origin }) => {
          const { secret } = await accounts.createSecret({ ownerId, name: body.name, value: body.value }, { origin });
          return presentSecret(required(secret));
        },
      ),
    )
    .put(
      "/:secret_name",
      ...endpoint(
        gate,
        {
          id: "setSecret",
          tag: "Management",
          summary: "Give a secret a new value",
          description: "Tools send it from their next call on.",
          scope: "session",
          body: SetSecretBody,
          response: Secret,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, body, origin }) => {
          const { secret } = await accounts.setSecret(
            { ownerId, name: params.secret_name ?? "", value: body.value },
            { origin },
          );
          return presentSecret(required(secret));
        },
      ),
    )
    .delete(
      "/:secret_name",
      ...endpoint(
        gate,
        {
          id: "deleteSecret",
          tag: "Management",
          summary: "Delete a secret that no tool uses",
          scope: "session",
          response: Done,
          refuses: ["not_found", "conflict"],
        },
        async ({ ownerId, params, origin }) => {
          await accounts.deleteSecret({ ownerId, name: params.secret_name ?? "" }, { origin });
          return { message: "Secret deleted" };
        },
      ),
    );
}

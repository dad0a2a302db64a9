import { presentSecret } from "@parley/shared/domain/present/secret";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { required } from "../../present/required.ts";
import { Done } from "../../schemas/manage/fields.ts";
import { CreateSecretBody, Secret, SecretList, SetSecretBody } from "../../schemas/manage/secrets.ts";
import { endpoints, MANAGED } from "../endpoint.ts";

export function secretRoutes(gate: GateContext, { accounts }: Clients) {
  const route = endpoints(gate, MANAGED);
  return new Elysia({ prefix: "/v1/manage/secrets" })
    .get(
      "/",
      ...route(
        {
          id: "listSecrets",
          summary: "List secrets, without their values",
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
      ...route(
        {
          id: "createSecret",
          summary: "Create a secret that tools or models send",
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
      ...route(
        {
          id: "setSecret",
          summary: "Give a secret a new value",
          description:
            "Tools send it from their next call on, models from the next turn, and speech servers from the next call or voice message.",
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
      ...route(
        {
          id: "deleteSecret",
          summary: "Delete a secret that no tool and no agent uses",
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

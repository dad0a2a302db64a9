import { type TProperties, Type } from "@sinclair/typebox";

export const Id = (description: string, example: string) => Type.String({ description, examples: [example] });
export const At = (description?: string) =>
  Type.String({
    format: "date-time",
    ...(description !== undefined && { description }),
    examples: ["2026-01-31T09:30:00.000Z"],
  });
export const Uuid = (description: string) =>
  Type.String({ format: "uuid", description, examples: ["0198c1f0-5a7b-7cc3-9c39-2f1d6f0a1b2c"] });
/** A schema with a name of its own in the document. */
export const Resource = <P extends TProperties>($id: string, properties: P, description?: string) =>
  Type.Object(properties, { $id, ...(description !== undefined && { description }) });

export const Problem = Resource(
  "Problem",
  {
    detail: Type.String({ description: "What was wrong, in one sentence.", examples: ["agent_name is required"] }),
    errors: Type.Optional(
      Type.Array(
        Type.Object({
          path: Type.String({ description: "The field, such as `llm.params.base_url`." }),
          message: Type.String({ description: "What was wrong with it." }),
        }),
        {
          description:
            "With 422: each field that breaks a rule. With 404: the field that names a missing object, if a field of the body does.",
        },
      ),
    ),
  },
  "Why a request was refused.",
);

export const PageFigures = {
  total: Type.Integer({ minimum: 0, description: "Number of items on all pages." }),
  page: Type.Integer({ minimum: 1, description: "This page." }),
  page_size: Type.Integer({ minimum: 1, description: "Items on a full page." }),
  total_pages: Type.Integer({ minimum: 0, description: "Number of pages." }),
};

export const AgentId = Id("ID of the agent.", "agt_01m7yyhwdzeb28n9gms8rr2qyg");
export const AgentName = Type.String({ description: "Name of the agent.", examples: ["Front desk"] });

export const Message = Type.String({ description: "What was done." });

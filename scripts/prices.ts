import { calcPrice } from "@pydantic/genai-prices";
import { $ } from "bun";

/**
 * `bun run prices`: writes the prices of the catalogue's language models, as the installed release of genai-prices has them on the
 * day it was published. A model that the release does not know by this name has no price.
 */
const DATA = "services/agent/src/catalogue/data";
const PACKAGE = "@pydantic/genai-prices";
/** The providers' names in genai-prices. */
const PROVIDERS: Readonly<Record<string, string>> = {
  OPENAI: "openai",
  OPENAI_RESPONSES: "openai",
  ANTHROPIC: "anthropic",
  GOOGLE: "google",
  GROQ: "groq",
  MISTRAL: "mistral",
};
/** What a dated version of a model adds to its name. */
const VERSION = /^(-\d{4}-\d{2}-\d{2}|-\d{8})?$/;

const { devDependencies }: { devDependencies: Record<string, string> } = await Bun.file("package.json").json();
const version = devDependencies[PACKAGE];
const publishedAt = await publishTime();
const source = `${PACKAGE} ${version}`;
/** The part of `services/agent/src/catalogue/file.ts` that is read here; a test there checks what is written. */
const { llm }: { llm: Record<string, { models?: string[] }> } = await Bun.file(`${DATA}/llm.json`).json();
const providers = Object.entries(llm).map(([provider, { models = [] }]) => {
  const prices = models.flatMap((model) => {
    const price = priceOf(provider, model);
    return price ? [[model, price] as const] : [];
  });
  return [provider, { prices: Object.fromEntries(prices) }] as const;
});
await Bun.write(`${DATA}/llm-prices.json`, JSON.stringify({ llm: Object.fromEntries(providers) }));
await $`node_modules/.bin/biome format --write ${DATA}/llm-prices.json`.quiet();

async function publishTime(): Promise<Date> {
  const times: Record<string, string> = await $`bun pm view ${PACKAGE} time --json`.json();
  const time = times[version ?? ""];
  if (time === undefined) throw new Error(`npm does not know when ${source} was published`);
  return new Date(time);
}

function priceOf(provider: string, model: string) {
  const providerId = PROVIDERS[provider];
  if (providerId === undefined) throw new Error(`${provider} needs its name in genai-prices in scripts/prices.ts`);
  // An alias such as mistral-large-latest costs what the model that it stands for costs at the time.
  if (model.endsWith("-latest")) return null;
  const found = calcPrice({ input_tokens: 1, output_tokens: 1 }, model, { providerId, timestamp: publishedAt });
  // The package also matches a model with an older one whose name begins the same.
  if (!found || !model.startsWith(found.model.id) || !VERSION.test(model.slice(found.model.id.length))) return null;
  const { input_mtok, output_mtok, cache_read_mtok, cache_write_mtok } = found.model_price;
  const steps = [input_mtok, output_mtok].flatMap((price) => (typeof price === "object" ? price.tiers : []));
  const cached_input = baseOf(cache_read_mtok);
  const cache_write = baseOf(cache_write_mtok);
  return {
    input: baseOf(input_mtok) as number,
    output: baseOf(output_mtok) as number,
    ...(cached_input !== undefined && { cached_input }),
    ...(cache_write !== undefined && { cache_write }),
    ...(steps.length > 0 && { input_tokens_max: Math.min(...steps.map(({ start }) => start)) }),
    source,
    date: publishedAt.toISOString().slice(0, 10),
  };
}

type Price = NonNullable<ReturnType<typeof calcPrice>>["model_price"][string];

/** The price below the first step. */
function baseOf(price: Price): number | undefined {
  return typeof price === "object" ? price.base : price;
}

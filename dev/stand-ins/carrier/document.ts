/** What a document tells a carrier to do: the part that Parley's documents use. */
export type Verb =
  | { verb: "stream"; url: string }
  | { verb: "say"; text: string }
  | { verb: "dial"; to: string; from: string }
  | { verb: "press"; keys: string }
  | { verb: "redirect"; url: string }
  | { verb: "reject" }
  | { verb: "hang_up" };

/** Reads TwiML or Plivo XML. @throws for a document that is neither */
export function readDocument(xml: string): Verb[] {
  const [, content] = /<Response>([\s\S]*)<\/Response>|<Response\/>/.exec(xml) ?? [];
  if (content === undefined && !xml.includes("<Response/>")) throw new Error("the document has no Response");
  const verbs: Verb[] = [];
  for (const [, name = "", attributes = "", text = ""] of (content ?? "").matchAll(VERB)) {
    const attribute = (key: string) => unescaped(new RegExp(`\\b${key}="([^"]*)"`).exec(attributes)?.[1] ?? "");
    if (name === "Connect")
      verbs.push({ verb: "stream", url: unescaped(/<Stream url="([^"]*)"/.exec(text)?.[1] ?? "") });
    else if (name === "Stream") verbs.push({ verb: "stream", url: unescaped(text.trim()) });
    else if (name === "Say" || name === "Speak") verbs.push({ verb: "say", text: unescaped(text) });
    else if (name === "Dial")
      verbs.push({ verb: "dial", from: attribute("callerId"), to: unescaped(text.replace(/<[^>]*>/g, "")) });
    else if (name === "Play") verbs.push({ verb: "press", keys: attribute("digits") });
    else if (name === "Redirect") verbs.push({ verb: "redirect", url: unescaped(text.trim()) });
    else if (name === "Reject") verbs.push({ verb: "reject" });
    else if (name === "Hangup") verbs.push({ verb: attribute("reason") === "busy" ? "reject" : "hang_up" });
    else throw new Error(`the stand-in does not know <${name}>`);
  }
  return verbs;
}

const VERB = /<([A-Z]\w*)((?:\s+\w+="[^"]*")*)\s*(?:\/>|>([\s\S]*?)<\/\1>)/g;

const CHARACTERS: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', apos: "'", amp: "&" };

function unescaped(text: string): string {
  return text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name) => CHARACTERS[name] ?? "");
}

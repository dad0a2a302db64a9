import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import type { Reading } from "../reading.ts";
import { markdownOf, type PageNode } from "./html.ts";
import { oneLine } from "./markdown.ts";

/** The parts of a page that repeat on every page of a site. */
const AROUND =
  "nav, footer, aside, form, dialog, [role=navigation], [role=banner], [role=contentinfo], [role=search], [hidden]";
/** Finding the article takes the cube of a page's depth: 10 s for a thousand, which no real page has. */
const DEPTH_MAX = 200;
const ELEMENTS_MAX = 20_000;

/**
 * The text of a web page, without menus and the like. Where the article in it is less than half of the text, such as on a page of many
 * tables, everything counts that is not around it.
 */
export function textOfPage(html: string): Reading {
  const { document } = parseHTML(isWholePage(html) ? html : `<!doctype html><html><body>${html}</body></html>`);
  for (const element of document.querySelectorAll(AROUND)) element.remove();
  const title = oneLine(document.querySelector("title")?.textContent ?? "");
  const whole = markdownOf(document.body ?? document.documentElement);
  const article = articleOf(document);
  const text = article.length * 2 >= whole.length ? article : whole;
  if (text.trim() === "" || title === "") return { text, title: title || null };
  return { text: text.includes(title) ? text : `# ${title}\n\n${text}`, title };
}

function isWholePage(html: string): boolean {
  return /<(?:html|body)\b/i.test(html);
}

/** Changes the document. */
function articleOf(document: ReturnType<typeof parseHTML>["document"]): string {
  if (depthOf(document.documentElement) > DEPTH_MAX) return "";
  const serializer = (content: unknown) => content as PageNode;
  try {
    const content = new Readability<PageNode>(document, { serializer, maxElemsToParse: ELEMENTS_MAX }).parse()?.content;
    return content ? markdownOf(content) : "";
  } catch {
    return "";
  }
}

function depthOf(root: PageNode): number {
  let deepest = 0;
  let depth = 0;
  for (let node: PageNode | null = root; node; ) {
    deepest = Math.max(deepest, depth);
    if (node.firstChild) {
      node = node.firstChild;
      depth++;
      continue;
    }
    while (node !== root && !node.nextSibling) {
      node = node.parentNode as PageNode;
      depth--;
    }
    node = node === root ? null : node.nextSibling;
  }
  return deepest;
}

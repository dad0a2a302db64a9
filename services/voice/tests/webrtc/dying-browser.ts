import { browser } from "./browser.ts";

// A page of its own process, for a test to kill: prints its offer, reads the answer, and sends messages for as long as it lives.
const page = await browser();
process.stdout.write(JSON.stringify(page.offer));
for await (const answer of console) {
  page.accept(JSON.parse(answer));
  setInterval(() => page.channel.isOpen() && page.channel.sendMessage("hello"), 5);
}

// The messages of a chat as a tree. What is shown is the path from the root to a leaf; an edited or repeated message is a sibling of
// the one that it replaces on that path.

export class Tree {
  #messages = new Map();
  #children = new Map(); // parent's id or null → ids, the oldest first

  constructor(messages = []) {
    for (const message of [...messages].sort((a, b) => a.created - b.created)) this.add(message);
  }

  add(message) {
    this.#messages.set(message.id, message);
    const siblings = this.#children.get(message.parent) ?? [];
    if (!siblings.includes(message.id)) siblings.push(message.id);
    this.#children.set(message.parent, siblings);
  }

  remove(id) {
    const message = this.#messages.get(id);
    const siblings = this.#children.get(message.parent);
    siblings.splice(siblings.indexOf(id), 1);
    this.#messages.delete(id);
  }

  get(id) {
    return this.#messages.get(id);
  }

  get size() {
    return this.#messages.size;
  }

  siblings(id) {
    return this.#children.get(this.#messages.get(id).parent);
  }

  // From the first message to `leaf`. A parent that is missing, or its own ancestor (an imported file), ends it.
  path(leaf) {
    const found = [];
    const seen = new Set();
    for (let at = this.#messages.get(leaf); at && !seen.has(at.id); at = this.#messages.get(at.parent)) {
      seen.add(at.id);
      found.push(at);
    }
    return found.reverse();
  }

  // The newest message below `id`, always going to the newest child.
  newestLeaf(id) {
    for (const seen = new Set(); !seen.has(id);) {
      seen.add(id);
      id = this.#children.get(id)?.at(-1) ?? id;
    }
    return id;
  }
}

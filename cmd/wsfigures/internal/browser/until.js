// until waits for a value of f, or throws the complaint of the page.
const until = async (what, f) => {
	for (const begin = Date.now(); ;) {
		const v = f();
		if (v) return v;
		const text = document.body.innerText;
		const at = text.search(/went wrong|Unrecognized/);
		if (at >= 0) throw new Error(text.slice(at));
		if (Date.now() - begin > 60_000) throw new Error(`no ${what} after a minute: ${text}`);
		await new Promise((ready) => setTimeout(ready, 50));
	}
};

package facts

import "strings"

// phrase makes a sentence a rule: the words after its first one, or all of it for languages without spaces.
type phrase struct {
	words  string
	weight Weight
}

// strictWords say what must, must never, or must always be done, in English, German, French, Spanish, Portuguese, Italian, Russian, Arabic
// and Hindi. Commas separate phrases.
const strictWords = "must,mustn't,mustnt,never,always,forbidden,mandatory,prohibited,not allowed,from now on,under no circumstances,at all times,make sure," +
	"be sure,required,shall,no matter what,not permitted,at all costs,without exception,without fail,compulsory,obligatory," +
	"muss,musst,müssen,müsst,muß,nie,niemals,nimmer,immer,stets,verboten,untersagt,zwingend,unbedingt,ab jetzt,ab sofort,von nun an,in zukunft,künftig," +
	"auf keinen fall,auf jeden fall,in jedem fall,unter keinen umständen,keinesfalls,darf,darfst,dürfen,dürft,stelle sicher,stell sicher,sicherstellen," +
	"erforderlich,verpflichtend,jedes mal,grundsätzlich,ausnahmslos," +
	"dois,doit,devez,doivent,devons,jamais,toujours,interdit,interdite,interdits,obligatoire,obligatoirement,impérativement,impératif,désormais,dorénavant," +
	"à partir de maintenant,en aucun cas,il faut,assure-toi,assurez-vous,veillez à,veille à,requis,requise,il est défendu,sans exception," +
	"debe,debes,deben,debéis,deberá,deberás,deberán,nunca,jamás,siempre,prohibido,prohibida,obligatorio,obligatoria,a partir de ahora,de ahora en adelante," +
	"bajo ninguna circunstancia,en ningún caso,hay que,tiene que,tienes que,tienen que,asegúrate,asegúrese,requerido,sin excepción,sin falta," +
	"deve,deves,devem,deverá,deverão,jamais,sempre,proibido,proibida,obrigatório,obrigatória,a partir de agora,daqui em diante,de agora em diante," +
	"em hipótese alguma,em nenhuma circunstância,sob nenhuma circunstância,tem que,tens que,têm que,tem de,certifique-se,certifica-te,garanta,é necessário,é preciso,sem exceção," +
	"devi,devono,dovete,dobbiamo,mai,vietato,vietata,proibito,obbligatorio,obbligatoria,d'ora in poi,da ora in poi,in nessun caso,per nessun motivo," +
	"bisogna,assicurati,assicuratevi,si assicuri,richiesto,senza eccezioni," +
	"должен,должна,должно,должны,никогда,всегда,запрещено,запрещается,запрещён,запрещена,обязательно,обязан,обязаны,нельзя,отныне,с этого момента,впредь," +
	"ни в коем случае,ни при каких обстоятельствах,убедись,убедитесь,необходимо,требуется,недопустимо," +
	"يجب,ويجب,لابد,أبدا,أبداً,ابدا,مطلقا,مطلقاً,دائما,دائماً,دوما,دوماً,ممنوع,محظور,إلزامي,من الآن فصاعدا,من الآن فصاعداً,بأي حال,تأكد,تأكدي,ينبغي,مطلوب,إياك,يمنع," +
	"हमेशा,सदैव,कभी नहीं,कभी भी,कभी,ज़रूरी,जरूरी,अनिवार्य,आवश्यक,अब से,आगे से,वर्जित,मना है,निषिद्ध,सुनिश्चित,अवश्य,ज़रूर,जरूर,चाहिए,किसी भी हालत"

// otherWords say what should, or should not, be done, or merely negate something.
const otherWords = "do not,don't,have to,has to,ensure,dont,should not,shouldn't,only,important,importantly,cannot,critical,crucial,avoid,refrain,strictly,exclusively,no longer," +
	"we should not,we shouldn't,we no longer," + // of all of us, so no remark
	"nicht,nur,wichtig,ausschließlich,kein,keine,keinen,keinem,keiner,soll,sollst,sollt,sollen,sollte,solltest,sollten,vermeide,vermeiden,achte darauf,notwendig,nötig,lediglich," +
	"ne,seulement,uniquement,important,importante,évite,évitez,pas de,exclusivement,nécessaire," +
	"no,solo,sólo,solamente,únicamente,importante,evita,evite,necesario,necesaria,exclusivamente," +
	"não,só,somente,apenas,evita,evite,necessário,necessária,exclusivamente," +
	"non,soltanto,solamente,unicamente,evitare,necessario,necessaria,esclusivamente," +
	"не,только,важно,следует,избегай,избегайте,исключительно,не надо,не нужно," +
	"لا,ولا,لن,فقط,مهم,هام,تجنب,تجنبي,ضروري,المهم," +
	"मत,न,नहीं,केवल,सिर्फ,सिर्फ़,महत्वपूर्ण,बचें,याद रखें"

// companions are words of which a sentence must have one for a word to count that means something else in other languages.
var companions = map[string]string{
	"no":   spanish,
	"solo": spanish + italian,
	"mai":  italian,
	"non":  italian,
	"dois": " tu je le la les de du des ne pas ",
	"nie":  " du ich sie ihr wir man bitte der die das den ein eine es und mit in auf zu an von ist nicht ",
}

const (
	spanish = " el la los las un una unos de del que en por para con se es lo al tu su mi este esta nada "
	italian = " il lo la gli di che del della un una è nel con per questo questa si da al e "
)

// In Chinese, Japanese, Korean and Thai.
const (
	strictUnspaced = "必须,必須,务必,務必,一定要,绝不,絕不,绝对不,絕對不,永远,永遠,从不,從不,决不,決不,始终,始終,总是,總是,每次都,禁止,严禁,嚴禁,不得,不准,不许,不許,不允许,不允許," +
		"从现在开始,從現在開始,从现在起,從現在起,以后都,今后,今後,确保,確保,应当,應當,切勿,千万,千萬," +
		"なければなら,なければいけ,ねばなら,ないといけ,てはいけ,てはなら,ではいけ,ではなら,ちゃだめ,絶対,決して,必ず,常に,いつも,これから,今後は,厳禁,義務,必要があ," +
		"반드시,절대,항상,언제나,금지,지금부터,앞으로,해야,안 됩니다,안 된다,안돼,필수," +
		"ห้าม,เสมอ"
	otherUnspaced = "不要,请别,請別,别再,別再,别把,别用,别在,别去,别动,请勿,請勿,勿,只能,只有,仅,僅,只,重要,不能,不可,不应,不應,避免,不该,不該," +
		"ないでください,しないで,するな,だけ,のみ,大切,べき,避け,注意," +
		"하지 마,하지마,지 마세요,지 말,오직,만 사용,중요," +
		"ต้อง,เท่านั้น"
)

var (
	phrases         = phrasesOf(map[string]Weight{strictWords: StrictRule, otherWords: Rule})
	unspacedPhrases = append(unspacedOf(strictUnspaced, StrictRule), unspacedOf(otherUnspaced, Rule)...)
)

// phrasesOf indexes phrases by their first word.
func phrasesOf(lists map[string]Weight) map[string][]phrase {
	out := map[string][]phrase{}
	for list, weight := range lists {
		for p := range strings.SplitSeq(list, ",") {
			first := lettersSize(p)
			out[p[:first]] = append(out[p[:first]], phrase{strings.TrimLeft(p[first:], " "), weight})
		}
	}
	return out
}

func unspacedOf(list string, weight Weight) []phrase {
	var out []phrase
	for p := range strings.SplitSeq(list, ",") {
		out = append(out, phrase{p, weight})
	}
	return out
}
